import type { ChannelWeight, Settings } from "../config/settings.ts";
import {
  ConfigurationError,
  JobTimeout,
  SolidJobsError,
  StoreUnavailable,
  ThreadDied,
  toError,
} from "../foundation/errors.ts";
import { randomHex } from "../foundation/ids.ts";
import { pause } from "../foundation/time.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Executor, Store } from "../store/store.ts";
import type { Board } from "../worker/board.ts";
import type { FromWorker, ToWorker, WorkerInit } from "../worker/messages.ts";
import { type DeadWorker, settleDeadWorker } from "./settle-dead.ts";
import { Thread, type ThreadEnd } from "./threads.ts";

export interface SeatOptions {
  readonly settings: Settings;
  readonly store: Store;
  readonly node: string;
  readonly board: Board;
  /** Its place on the board. */
  readonly worker: number;
  readonly channels: readonly ChannelWeight[];
  readonly logger: Logger;
  readonly onSlotsHint: () => void;
  /** A replacement's modules do not load: the node cannot go on. */
  readonly onFatal: (error: Error) => void;
}

/** Replacing waits a second after the second death, twice as long after each further one, up to this. */
const longestReplaceMs = 30_000;
/** A worker that lived this long does not count as one of a row of deaths. */
const longLifeMs = 60_000;
const terminateMs = 1000;

/**
 * One worker's place in a node: the thread that sits there now, and its replacement when it dies.
 *
 *     grant a new executor and generation -> start the thread -> it loads, says ready -> go
 *     its thread ends unasked -> take the generation away, settle what it held -> pause -> start again
 *
 * An executor's name is never used again: what a dead thread's connection still sends finds no generation.
 */
export class WorkerSeat {
  private readonly options: SeatOptions;
  private thread: Thread<ToWorker, FromWorker> | undefined;
  private readiness = Promise.withResolvers<void>();
  private readonly drained = Promise.withResolvers<void>();
  private startedAt = 0;
  private deaths = 0;
  private count = 0;
  private hasGone = false;
  private isLeaving = false;
  /** Why the conductor ended the thread, if it did. */
  private ending: Pick<DeadWorker, "error" | "culprits"> | undefined;

  constructor(options: SeatOptions) {
    this.options = options;
  }

  /** Resolves when the worker is ready. @throws SolidJobsError when its modules do not load */
  async start(): Promise<void> {
    const { settings, node, board, worker, channels, store } = this.options;
    this.count += 1;
    const executor = { node, executor: `w${worker}-${this.count}`, generation: randomHex(6) };
    if (!(await store.grant(executor)))
      throw new StoreUnavailable("this node is gone from the store", { isSent: false });
    this.readiness = Promise.withResolvers();
    board.clearWorker(worker);
    const { executor: name, generation } = executor;
    const init: WorkerInit = {
      settings,
      node,
      executor: name,
      generation,
      worker,
      board: board.buffer,
      channels,
    };
    const thread = new Thread<ToWorker, FromWorker>("worker", init);
    this.thread = thread;
    this.startedAt = performance.now();
    thread.listen((message) => this.hear(message));
    void thread.ended.then((end) => this.bury(thread, executor, end));
    await this.readiness.promise;
  }

  go(): void {
    this.hasGone = true;
    this.thread?.send({ type: "go" });
  }

  send(message: ToWorker): void {
    this.thread?.send(message);
  }

  /** Tells it to finish. Resolves when everything it held is settled, or its thread has ended. */
  drain(): Promise<void> {
    this.isLeaving = true;
    if (this.thread === undefined) this.drained.resolve();
    this.send({ type: "drain" });
    return this.drained.promise;
  }

  /** Ends the thread for a job's sake; it is replaced. */
  end(reason: Pick<DeadWorker, "error" | "culprits">): void {
    if (this.ending !== undefined) return;
    this.ending = reason;
    void this.thread?.terminate(terminateMs).then((hasEnded) => {
      if (!hasEnded)
        this.options.logger.error("a worker is held by a native call and cannot be ended yet", {
          worker: this.options.worker,
        });
    });
  }

  /** For good. False when a native call still holds the thread. */
  async terminate(): Promise<boolean> {
    this.isLeaving = true;
    return (await this.thread?.terminate(terminateMs)) ?? true;
  }

  private hear(message: FromWorker): void {
    const { logger, worker, onSlotsHint } = this.options;
    switch (message.type) {
      case "ready":
        return this.readiness.resolve();
      case "failed":
        return this.readiness.reject(bootFailure(message));
      case "slots-hint":
        return onSlotsHint();
      case "broken":
        return logger.error(`a worker's loop failed: ${message.message}`, { worker });
      case "retired":
        return logger.warn("a worker lost its permission to reserve", { worker });
      case "drained":
        return this.drained.resolve();
    }
  }

  /** The thread has ended; unasked, this is a death. */
  private async bury(
    thread: Thread<ToWorker, FromWorker>,
    executor: Executor,
    end: ThreadEnd,
  ): Promise<void> {
    if (this.thread !== thread) return;
    const { logger, worker, board } = this.options;
    const holding = board.holdingSlot(worker);
    const ending = this.ending;
    this.thread = undefined;
    this.ending = undefined;
    const error = ending?.error ?? death(end);
    this.readiness.reject(error);
    this.drained.resolve();
    if (this.isLeaving) return;
    if (ending === undefined)
      logger.error(`a worker's thread died: ${error.message}`, { worker, executor: executor.executor });
    const culprits = ending === undefined && holding >= 0 ? [holding] : ending?.culprits;
    await this.settle({ executor, error, culprits, wasEnded: ending !== undefined });
    board.clearWorker(worker);
    if (this.hasGone) await this.replace();
  }

  /** Until it is done: a store that is away comes back, or the node's end takes care of the claims. */
  private async settle(dead: DeadWorker): Promise<void> {
    const { store, settings, logger } = this.options;
    for (let failures = 0; !this.isLeaving; failures++) {
      try {
        await settleDeadWorker(dead, { store, settings, logger });
        return;
      } catch (thrown) {
        const error = toError(thrown);
        if (failures === 0) logger.warn(`a dead worker's jobs are not settled yet: ${error.message}`);
        await pause(Math.min(100 * 2 ** failures, 2000));
      }
    }
  }

  private async replace(): Promise<void> {
    const { logger, worker, onFatal } = this.options;
    this.deaths = performance.now() - this.startedAt > longLifeMs ? 1 : this.deaths + 1;
    if (this.deaths > 1) await pause(Math.min(1000 * 2 ** (this.deaths - 2), longestReplaceMs));
    for (let failures = 0; !this.isLeaving; failures++) {
      try {
        await this.start();
        this.go();
        return logger.info("a worker was replaced", { worker });
      } catch (thrown) {
        const error = toError(thrown);
        if (error instanceof ThreadDied) return; // its own burial goes on from here
        if (error instanceof ConfigurationError || !(error instanceof SolidJobsError)) return onFatal(error);
        if (failures === 0) logger.error(`a worker is not replaced yet: ${error.message}`, { worker });
        await pause(Math.min(100 * 2 ** failures, 2000));
      }
    }
  }
}

/** Modules and options stay wrong until they are changed; a `startup` callback or the store may do better. */
function bootFailure({ code, message }: Extract<FromWorker, { type: "failed" }>): SolidJobsError {
  if (code === "STORE_UNAVAILABLE") return new StoreUnavailable(message, { isSent: false });
  if (code === "STARTUP") return new SolidJobsError(code, `a startup callback failed: ${message}`);
  return new ConfigurationError(message, { code });
}

function death({ code, reason }: ThreadEnd): ThreadDied {
  if (reason !== undefined) return new ThreadDied(`its thread ended with an error: ${firstLines(reason)}`);
  return new ThreadDied(`its thread ended with code ${code} (process.exit in a job, or an end from outside)`);
}

function firstLines(text: string): string {
  return text.split("\n").slice(0, 12).join("\n").slice(0, 1000);
}

/** The reason with which a thread is ended for jobs that ran past their timeouts. */
export function pastTimeout(slots: readonly number[]): Pick<DeadWorker, "error" | "culprits"> {
  return {
    error: new JobTimeout("ran past its timeout and did not end on its signal: its thread was ended"),
    culprits: slots,
  };
}
