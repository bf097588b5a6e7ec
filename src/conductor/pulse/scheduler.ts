import type { Logger } from "../../instrumentation/logger.ts";
import type { Store } from "../../store/store.ts";
import { Duty } from "./duty.ts";

/**
 * Anybody may plan an earlier job at any time, members included that tell nobody, so the sets are looked at this
 * often at least. What is known to be due sooner is looked for at its time.
 */
const longestPauseMs = 200;

/** Moves due planned jobs and retries into their channels, at most 100 of each a call. */
export function startScheduler(store: Store, logger: Logger): Duty {
  return new Duty("the scheduler", logger, async () => {
    const { nextInMs, problems } = await store.promoteDue();
    for (const problem of problems) logger.error(`a due job cannot be promoted: ${problem}`);
    return Math.min(nextInMs ?? longestPauseMs, longestPauseMs);
  });
}
