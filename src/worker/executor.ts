import type { Settings } from "../config/settings.ts";
import { decodeEnvelope } from "../envelope/codec.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { PoisonJob, SolidJobsError, toError, UnknownTask } from "../foundation/errors.ts";
import type { Emitter } from "../instrumentation/emitter.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { ExecuteInterceptor } from "../interceptor/contexts.ts";
import type { Reservation, SettlementOutcome, Suspicion } from "../store/store.ts";
import { performTask } from "../task/perform.ts";
import { type RegisteredTask, registeredTasks, taskNamed } from "../task/registry.ts";
import type { Board } from "./board.ts";
import { Execution } from "./execution.ts";
import type { Failing } from "./failing.ts";

/** How one job ended, for its settlement. */
export interface Ended {
  readonly jobId: string;
  readonly settlement: SettlementOutcome;
  /** What is known of the job, for `job.acknowledged`; absent when its envelope cannot be read. */
  readonly execution?: Execution;
}

export interface ExecutorDependencies {
  readonly settings: Settings;
  readonly logger: Logger;
  readonly emitter: Emitter;
  readonly interceptors: readonly ExecuteInterceptor[];
  readonly failing: Failing;
  readonly board: Board;
  readonly worker: number;
}

/** Holding the loop of a worker with several slots for longer than this is worth a line in the log. */
const longHoldMs = 1000;

/**
 * Runs jobs. One execution goes through these steps: decode, find the task, perform inside the
 * interceptors, resolve to a settlement. Whatever the job does, the result is a settlement; only a fault
 * of the runtime itself throws.
 */
export class Executor {
  /** The executions under way, by slot. */
  readonly running = new Map<number, Execution>();
  private readonly with: ExecutorDependencies;

  constructor(dependencies: ExecutorDependencies) {
    this.with = dependencies;
  }

  /** A synchronous task that succeeds ends synchronously. */
  run(reservation: Reservation): Ended | Promise<Ended> {
    let envelope: Envelope;
    try {
      envelope = decodeEnvelope(reservation.raw);
    } catch (error) {
      return this.undecodable(reservation, toError(error));
    }
    const task = taskNamed(envelope.task);
    const execution = this.begin(reservation, envelope, task);
    if (reservation.suspicion?.isPoison === true)
      return this.failed(execution, task, poison(reservation.suspicion));
    if (task === undefined) return this.failed(execution, undefined, unknownTask(envelope.task));
    return this.perform(execution, task);
  }

  private begin(reservation: Reservation, envelope: Envelope, task: RegisteredTask | undefined): Execution {
    const { board, worker, logger, emitter } = this.with;
    const execution = new Execution({
      envelope,
      reservation,
      timeout: task?.options.timeout,
      startedAtMs: Date.now(),
      logger,
    });
    this.running.set(reservation.slot, execution);
    board.beginJob(worker, reservation.slot, {
      id: envelope.id,
      startedAtMs: execution.startedAtMs,
      deadlineMs: execution.hardDeadlineMs,
    });
    if (emitter.isListening) {
      const { attempt } = execution;
      emitter.emit({ name: "job.reserved", job: envelope, attempt });
      emitter.emit({ name: "job.started", job: envelope, attempt });
    }
    return execution;
  }

  private perform(execution: Execution, task: RegisteredTask): Ended | Promise<Ended> {
    const { slot } = execution.reservation;
    const startedAt = performance.now();
    this.with.board.setHolding(this.with.worker, slot);
    let result: unknown;
    let isAsync: boolean;
    try {
      result = performTask(task.taskClass, execution, this.with.interceptors);
      isAsync = isThenable(result);
    } catch (thrown) {
      return this.failed(execution, task, toError(thrown));
    } finally {
      this.with.board.setHolding(this.with.worker, -1);
      this.noteHold(execution, performance.now() - startedAt);
    }
    if (!isAsync) return this.succeeded(execution);
    return Promise.resolve(result).then(
      () => this.succeeded(execution),
      (thrown) => this.failed(execution, task, toError(thrown)),
    );
  }

  private succeeded(execution: Execution): Ended {
    const { envelope, attempt } = execution;
    if (this.with.emitter.isListening) {
      const durationMs = Date.now() - execution.startedAtMs;
      this.with.emitter.emit({ name: "job.completed", job: envelope, attempt, durationMs });
    }
    this.end(execution);
    return { jobId: envelope.id, settlement: { outcome: "ack" }, execution };
  }

  private async failed(execution: Execution, task: RegisteredTask | undefined, error: Error): Promise<Ended> {
    const { envelope, attempt, reservation } = execution;
    try {
      if (execution.isInterrupted && reservation.token !== "") {
        return { jobId: envelope.id, settlement: { outcome: "requeue" }, execution };
      }
      const { emitter } = this.with;
      const reason =
        error instanceof SolidJobsError ? { code: error.code, reason: error.message } : { error };
      execution.logger.warn("job failed", { attempt, channel: reservation.channel, ...reason });
      if (emitter.isListening) {
        const durationMs = Date.now() - execution.startedAtMs;
        emitter.emit({ name: "job.failed", job: envelope, attempt, durationMs, error });
      }
      const { settlement, outcome } = await this.with.failing.settle({
        reservation,
        envelope,
        taskClass: task?.taskClass,
        attempt,
        error,
      });
      if (outcome.kind === "archive")
        execution.logger.error("job is dead: no retry is left", { attempt, error });
      if (emitter.isListening && outcome.kind === "retry") {
        const { delaySeconds } = outcome;
        emitter.emit({ name: "job.retry_scheduled", job: envelope, attempt, delaySeconds, error });
      }
      if (emitter.isListening && outcome.kind === "archive") {
        emitter.emit({ name: "job.dead", job: envelope, attempt, error });
      }
      return { jobId: envelope.id, settlement, execution };
    } finally {
      this.end(execution);
    }
  }

  private async undecodable(reservation: Reservation, error: Error): Promise<Ended> {
    this.with.logger.error("an envelope that cannot be read was archived", {
      channel: reservation.channel,
      error,
    });
    return { jobId: "", settlement: await this.with.failing.settleUndecodable(reservation, error) };
  }

  private end(execution: Execution): void {
    execution.end();
    this.running.delete(execution.reservation.slot);
    this.with.board.endJob(this.with.worker, execution.reservation.slot);
  }

  private noteHold(execution: Execution, heldMs: number): void {
    if (heldMs < longHoldMs || this.with.settings.slots === 1) return;
    execution.logger.warn(
      `held the loop of its worker for ${Math.round(heldMs)} ms without an await: the other slots stood still; give CPU-bound tasks a node with slots = 1`,
    );
  }
}

function unknownTask(name: string): UnknownTask {
  const known = registeredTasks().map((task) => task.name);
  return new UnknownTask(
    `no loaded module has a task named "${name}"; known are: ${known.join(", ")}. Deploy the module, or rename`,
  );
}

function poison({ crashes }: Suspicion): PoisonJob {
  return new PoisonJob(
    `its node or thread died ${crashes} times while it ran, the last time alone on its node: it was archived without running again. Look in the task for what ends a process (native code, memory, process.exit, process.abort), mend it, and requeue the job from the archive: its deaths are then counted anew`,
  );
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    typeof value === "object" && value !== null && typeof (value as { then?: unknown }).then === "function"
  );
}
