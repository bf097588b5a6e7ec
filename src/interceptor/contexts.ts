import type { Envelope } from "../envelope/envelope.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Interceptor } from "./onion.ts";

/** One publication on its way to the store. What an interceptor changes in it is what gets stored. */
export interface PublishContext {
  /** The task's registered name. */
  readonly task: string;
  arguments: unknown[];
  channel: string;
  readonly id: string;
  /** When the job becomes ready; absent when it is so at once. */
  due?: Date;
}

/** One execution of a job in a worker. */
export interface ExecuteContext {
  readonly envelope: Envelope;
  /** 1 for the first execution. */
  readonly attempt: number;
  /** Aborted at the job's timeout, at its cancellation and at the node's shutdown deadline. */
  readonly signal: AbortSignal;
  /** Adds the job's id and task to each line. */
  readonly logger: Logger;
}

/** Runs around each publication. One that does not call `next` stops it: nothing is stored. */
export type PublishInterceptor = Interceptor<PublishContext, unknown>;

/** Runs around each execution. One that does not call `next` ends the job as done, its task not run. */
export type ExecuteInterceptor = Interceptor<ExecuteContext, unknown>;
