/**
 * Lets a process run before all others that are not of the real-time class: then the times of its calls, which
 * Redis takes by the wall clock, are its own. Needs Linux' `chrt` and the right to use it.
 *
 * @returns whether it does
 */
export function preferred(pid: number): boolean {
  if (Bun.which("chrt") === null) return false;
  return Bun.spawnSync(["chrt", "--fifo", "--pid", "1", String(pid)]).exitCode === 0;
}
