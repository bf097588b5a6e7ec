import { StoreUnavailable } from "../../foundation/errors.ts";
import { pause } from "../../foundation/time.ts";

/** Until a transaction that does not get the file is given up. */
const deadlineMs = 5000;

/** How long one call tries again while the file is held by others: every 1 to 10 ms, for 5 s. */
export class Patience {
  private readonly startedAt = performance.now();
  private attempts = 0;

  has(error: Error): boolean {
    const isWorthIt = error instanceof StoreUnavailable && !error.isSent;
    return isWorthIt && performance.now() - this.startedAt <= deadlineMs;
  }

  pause(): Promise<void> {
    this.attempts += 1;
    return pause(Math.min(this.attempts, 10));
  }
}
