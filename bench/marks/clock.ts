/** Wall clock in milliseconds with microseconds, the same in every process and thread of a machine. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}
