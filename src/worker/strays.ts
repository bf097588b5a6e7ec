import { toError } from "../foundation/errors.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Executor } from "./executor.ts";
import type { Failing } from "./failing.ts";
import { LoopFault } from "./loop.ts";

/**
 * Keeps a worker alive when a job leaves a rejection or an error behind that nobody catches: it is logged
 * and told to the error handlers, with the jobs that run at that moment. The job itself ends as its own
 * promise does. Faults of the runtime are not swallowed: they end the thread.
 */
export function guardAgainstStrays(parts: { executor: Executor; failing: Failing; logger: Logger }): void {
  const note = (kind: string) => (thrown: unknown) => {
    if (thrown instanceof LoopFault) process.exit(1);
    const error = toError(thrown);
    const jobs = [...parts.executor.running.values()].map(({ envelope }) => envelope.id);
    parts.logger.error(`${kind} outside of a job's own promise`, { error, jobs });
    void parts.failing.report(error, { logger: parts.logger });
  };
  process.on("unhandledRejection", note("a rejection"));
  process.on("uncaughtException", note("an error"));
}
