import type { Envelope } from "../envelope/envelope.ts";
import type { RetryDecision } from "../failure/outcome.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Storable } from "./storable.ts";

export type { RetryDecision } from "../failure/outcome.ts";
export type { Storable, StorableValue } from "./storable.ts";

/** What a class of tasks may declare as its static `options`. They are inherited, but for `name`. */
export interface TaskOptions {
  /** The name it is stored under; default: the class's own name. Needed in bundled programs. */
  name?: string;
  /** Default: `default`. */
  channel?: string;
  /** Failures after which a further one is final; default: the setting `maxFailures` (25). */
  maxFailures?: number;
  /** Seconds since the first failure within which it is retried, whatever the count. */
  retryWithin?: number;
  /** The channel its retries go to; default: the one it was in. */
  retryChannel?: string;
  /** Seconds one run may take; its `signal` is then aborted. Default: no limit. */
  timeout?: number;
}

/** What `withOptions` may change for one publication. */
export interface PublishOptions
  extends Pick<TaskOptions, "channel" | "maxFailures" | "retryWithin" | "retryChannel"> {
  /** The job's id; default: a new UUID (version 7). For one job only. */
  id?: string;
}

/** One run of one job, as `this` of the task that runs it. */
export interface Execution {
  readonly envelope: Envelope;
  /** 1 for the first run. */
  readonly attempt: number;
  /** Aborted at the job's timeout, at its cancellation and at the node's shutdown deadline. */
  readonly signal: AbortSignal;
  /** Adds the job's id and task to each line. */
  readonly logger: Logger;
}

/** What an instance of a task has. */
export interface RunningTask extends Execution {
  readonly taskId: string;
  // biome-ignore lint/suspicious/noExplicitAny: each task has parameters of its own
  executeTask(...args: any[]): unknown;
}

/** A concrete class of tasks: `A` are the parameters of its `executeTask`, `R` what that returns. */
// biome-ignore lint/suspicious/noExplicitAny: stands for the parameters of any task
export interface TaskClass<A extends unknown[] = any[], R = unknown> {
  new (): RunningTask & { executeTask(...args: A): R };
  readonly name: string;
  options?: TaskOptions;
  /**
   * Seconds until the retry after the `failureCount`-th failure, `"drop"`, `"archive"`, or undefined for
   * the default backoff. The envelope is as it was reserved: its own `failureCount` is one less.
   */
  retryDelay?(failureCount: number, error: Error, envelope: Envelope): RetryDecision;
  /** Called once, after the failure that archives the job; the envelope is as it was reserved. */
  afterFinalFailure?(envelope: Envelope, error: Error): unknown;
}

/** The arguments of a task: `TaskArgs<typeof SendEmail>`. */
export type TaskArgs<T extends TaskClass> = Parameters<InstanceType<T>["executeTask"]>;

/** Lists of arguments, one for each job: an array, or anything that yields them one after the other. */
export type ManyArguments<A extends unknown[]> =
  | readonly Storable<A>[]
  | Iterable<Storable<A>>
  | AsyncIterable<Storable<A>>;

/** A job that a test mode holds back. */
export interface CapturedJob<A extends unknown[] = unknown[]> {
  readonly id: string;
  readonly arguments: A;
  readonly channel: string;
  /** When it becomes ready; absent when it is so at once. */
  readonly due?: Date;
  readonly envelope: Envelope;
}
