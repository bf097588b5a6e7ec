import type { Envelope } from "../envelope/envelope.ts";

/**
 * What happens to a job, in the order in which it can happen:
 *
 *     job.enqueued      the publisher accepted it, before the store is asked
 *     job.journaled     the store has it
 *     job.reserved      a worker's slot holds it
 *     job.started       its task begins
 *     job.completed     its task returned
 *     job.failed        its task threw
 *     job.retry_scheduled, job.dead   where a failed job went
 *     job.acknowledged  the store has settled its claim
 *     job.recovered     it was taken back from a dead node
 */
export type JobEvent =
  | { readonly name: "job.enqueued" | "job.journaled"; readonly job: JobFacts; readonly dueMs?: number }
  | { readonly name: "job.reserved" | "job.started"; readonly job: JobFacts; readonly attempt: number }
  | {
      readonly name: "job.completed";
      readonly job: JobFacts;
      readonly attempt: number;
      readonly durationMs: number;
    }
  | {
      readonly name: "job.failed";
      readonly job: JobFacts;
      readonly attempt: number;
      readonly durationMs: number;
      readonly error: Error;
    }
  | {
      readonly name: "job.retry_scheduled";
      readonly job: JobFacts;
      readonly attempt: number;
      readonly delaySeconds: number;
      readonly error: Error;
    }
  | { readonly name: "job.dead"; readonly job: JobFacts; readonly attempt: number; readonly error: Error }
  | { readonly name: "job.acknowledged"; readonly job: JobFacts; readonly attempt: number }
  | { readonly name: "job.recovered"; readonly job: JobFacts; readonly crashes: number };

export type JobEventName = JobEvent["name"];

/** What is known of the job; a recovered one is known by id and channel only. */
export type JobFacts = Pick<Envelope, "id" | "channel"> & Partial<Envelope>;

/**
 * Constructed without arguments, once in each thread that publishes or runs jobs. An error it throws is
 * logged and does not touch the job.
 */
export interface Instrumenter {
  record(event: JobEvent): void;
}

export type InstrumenterClass = new () => Instrumenter;
