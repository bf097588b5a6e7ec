/** The stored record of one job, as the library and its users see it. Times are epoch milliseconds. */
export interface Envelope {
  readonly id: string;
  /** The task's registered name. */
  readonly task: string;
  readonly arguments: readonly unknown[];
  readonly channel: string;
  /** Failures after which a further one is final. */
  readonly maxFailures: number;
  readonly createdMs: number;
  /** When it last entered its channel. */
  readonly queuedMs: number;
  /** Seconds since the first failure within which it is retried whatever the count. */
  readonly retryWithin?: number;
  /** The channel its retries go to. */
  readonly retryChannel?: string;
  readonly failureCount: number;
  readonly exceptionType?: string;
  readonly exceptionMessage?: string;
  readonly firstFailedMs?: number;
  readonly lastFailedMs?: number;
}

/** The names of the record's fields on the wire, shared with the Ruby and Python members. */
export const wireNames = {
  id: "id",
  task: "task",
  arguments: "arguments",
  channel: "channel",
  maxFailures: "max_failures",
  createdMs: "created_ms",
  queuedMs: "queued_ms",
  retryWithin: "retry_within",
  retryChannel: "retry_channel",
  failureCount: "failure_count",
  exceptionType: "exception_type",
  exceptionMessage: "exception_message",
  firstFailedMs: "first_failed_ms",
  lastFailedMs: "last_failed_ms",
} as const satisfies Record<keyof Envelope, string>;

/** The field that names the publication barrier of an envelope; `"-"` when it has none. */
export const publicationField = "_solid_jobs_publication";

/** `exception_type` is cut at this many bytes: an error's name is any text that a job gives it. */
export const maxExceptionTypeBytes = 255;

/** `exception_message` is cut at this many bytes (protocol, section 1). */
export const maxExceptionMessageBytes = 1024;
