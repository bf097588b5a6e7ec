import type { Envelope } from "../envelope/envelope.ts";
import { JobTimeout, NodeStopping } from "../foundation/errors.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Reservation } from "../store/store.ts";

/** Milliseconds a job gets after its timeout's abort before its thread is ended. */
export const timeoutGraceMs = 5000;

/** One run of one job: what its task sees as `this`, and how its signal comes to be aborted. */
export class Execution {
  readonly envelope: Envelope;
  readonly reservation: Reservation;
  readonly attempt: number;
  readonly startedAtMs: number;
  /** Seconds, from the task's options. */
  readonly timeout: number | undefined;
  /** The signal was aborted because the node stops: an error that follows is no failure of the job. */
  isInterrupted = false;
  private readonly baseLogger: Logger;
  private abortController: AbortController | undefined;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private ownLogger: Logger | undefined;

  constructor(job: {
    envelope: Envelope;
    reservation: Reservation;
    timeout: number | undefined;
    startedAtMs: number;
    logger: Logger;
  }) {
    this.envelope = job.envelope;
    this.reservation = job.reservation;
    this.timeout = job.timeout;
    this.startedAtMs = job.startedAtMs;
    this.baseLogger = job.logger;
    this.attempt = Math.max(job.envelope.failureCount, job.reservation.earlierAttempts) + 1;
    if (job.timeout !== undefined) this.timer = setTimeout(() => this.timeOut(), job.timeout * 1000);
  }

  get signal(): AbortSignal {
    return this.controller.signal;
  }

  /** Made when it is asked for: most jobs never look at their signal, and making it costs more than a no-op job. */
  private get controller(): AbortController {
    this.abortController ??= new AbortController();
    return this.abortController;
  }

  get logger(): Logger {
    this.ownLogger ??= this.baseLogger.with({ job: this.envelope.id, task: this.envelope.task });
    return this.ownLogger;
  }

  /** Epoch milliseconds after which the thread may be ended for it; 0: never. */
  get hardDeadlineMs(): number {
    return this.timeout === undefined ? 0 : this.startedAtMs + this.timeout * 1000 + timeoutGraceMs;
  }

  interrupt(reason: string): void {
    this.isInterrupted = true;
    this.controller.abort(new NodeStopping(reason));
  }

  end(): void {
    clearTimeout(this.timer);
  }

  private timeOut(): void {
    this.controller.abort(
      new JobTimeout(
        `${this.envelope.task} ran longer than its timeout of ${this.timeout} s (job ${this.envelope.id})`,
      ),
    );
  }
}
