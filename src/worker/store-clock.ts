import type { Clock } from "../foundation/clock.ts";

/**
 * The store's time as its last answer told it. Failure times go by it, and `retryWithin` with them: nodes whose
 * clocks differ must not disagree on how long ago a job failed first. This machine's time before any answer.
 */
export class StoreClock implements Clock {
  private told: { readonly nowMs: number; readonly at: number } | undefined;

  observe(nowMs: number): void {
    this.told = { nowMs, at: performance.now() };
  }

  nowMs(): number {
    if (this.told === undefined) return Date.now();
    return Math.round(this.told.nowMs + performance.now() - this.told.at);
  }
}
