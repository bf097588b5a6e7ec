import type { Revision } from "../envelope/codec.ts";
import { type Envelope, maxExceptionMessageBytes, maxExceptionTypeBytes } from "../envelope/envelope.ts";
import { type BackoffSettings, backoffSeconds } from "./backoff.ts";

/** What a task's own `retryDelay` may answer: seconds, an end, or nothing for the default backoff. */
export type RetryDecision = number | "drop" | "archive" | undefined;

/** The longest delay that a task may ask for, in seconds: the stores keep no later time. */
export const longestRetryDelay = 1e11;

/** Whether a task's `retryDelay` answered something that can be carried out. */
export function isRetryDecision(answer: unknown): answer is RetryDecision {
  if (typeof answer === "number") return answer >= 0 && answer <= longestRetryDelay;
  return answer === undefined || answer === "drop" || answer === "archive";
}

/** Where a failed job goes. `revision` are the envelope's changed fields, by their wire names. */
export type FailureOutcome =
  | { readonly kind: "retry"; readonly delaySeconds: number; readonly revision: Revision }
  | { readonly kind: "archive"; readonly revision: Revision }
  | { readonly kind: "drop" };

/** The part of an envelope that failing depends on: an envelope that cannot be read has only defaults. */
export type FailingJob = Pick<Envelope, "maxFailures" | "failureCount"> &
  Partial<Pick<Envelope, "retryWithin" | "retryChannel" | "firstFailedMs">>;

/**
 * The rule of protocol section 5, pure: a failure is final when the count exceeds `maxFailures`, or, with
 * `retryWithin`, when that many seconds have passed since the first failure; otherwise it is retried
 * after the task's own delay or the default backoff.
 */
export function failureOutcome(
  job: FailingJob,
  error: Error,
  { decision, nowMs, backoff }: { decision: RetryDecision; nowMs: number; backoff: BackoffSettings },
): FailureOutcome {
  if (decision === "drop") return { kind: "drop" };
  const failureCount = job.failureCount + 1;
  const firstFailedMs = job.firstFailedMs ?? nowMs;
  const revision: Revision = {
    failure_count: failureCount,
    exception_type: cutToBytes(error.name, maxExceptionTypeBytes),
    exception_message: cutToBytes(error.message, maxExceptionMessageBytes),
    first_failed_ms: firstFailedMs,
    last_failed_ms: nowMs,
  };
  const isFinal =
    job.retryWithin === undefined
      ? failureCount > job.maxFailures
      : nowMs - firstFailedMs >= job.retryWithin * 1000;
  if (decision === "archive" || isFinal) return { kind: "archive", revision };
  return {
    kind: "retry",
    delaySeconds: decision ?? backoffSeconds(failureCount, backoff),
    revision: job.retryChannel === undefined ? revision : { ...revision, channel: job.retryChannel },
  };
}

/** The longest beginning of `text` that takes at most `limit` bytes of UTF-8, never half a character. */
export function cutToBytes(text: string, limit: number): string {
  if (text.length * 3 <= limit) return text;
  const { read } = new TextEncoder().encodeInto(text, new Uint8Array(limit));
  return text.slice(0, read);
}
