/** Wall time in epoch milliseconds. Only for records and logs: transitions go by the store's clock. */
export interface Clock {
  nowMs(): number;
}

export const systemClock: Clock = { nowMs: () => Date.now() };

/** A clock that stands where a test puts it. */
export function fixedClock(nowMs: number): Clock & { set(nowMs: number): void } {
  let current = nowMs;
  return {
    nowMs: () => current,
    set: (value) => {
      current = value;
    },
  };
}
