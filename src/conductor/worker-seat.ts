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
import { type Thread, type ThreadEnd, threadFor } from "./threads.ts";

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
/** Loading modules and `startup` may take long; after this time it is told, so that nobody wonders. */
const slowStartMs = 30_000;

/** The thread that sits in a place now. */
interface Sitter {
  readonly thread: Thread<ToWorker, FromWorker>;
  readonly executor: Executor;
  readonly startedAt: number;
  readonly readiness: PromiseWithResolvers<void>;
  /** Everything it held is settled, or it has ended. */
  readonly drained: PromiseWithResolvers<void>;
  isReady: boolean;
  /** Why the conductor ended it, if it did. */
  ending: Pick<DeadWorker, "error" | "culprits"> | undefined;
  /** Lost its permission to reserve: it finishes what it runs and is replaced. */
  isRetired: boolean;
}

/**
 * One worker's place in a node: the thread that sits there now, and its replacement when it dies.
 *
 *     grant a new executor and generation -> start the thread -> it loads, says ready -> go
 *     its thread ends unasked -> take the generation away, settle what it held -> pause -> start again
 *
 * A thread that ends before it is ready held nothing: who started it is told, and starts the next one.
 * An executor's name is never used again: what a dead thread's connection still sends finds no generation.
 */
export class WorkerSeat {
  private readonly options: SeatOptions;
  private sitter: Sitter | undefined;
  private deaths = 0;
  private count = 0;
  private hasGone = false;
  private isReplacing = false;
  private readonly leaving = new AbortController();

  constructor(options: SeatOptions) {
    this.options = options;
  }

  /** Resolves when the worker is ready. @throws SolidJobsError when its modules do not load */
  async start(): Promise<void> {
    const { settings, node, board, worker, channels, store, logger } = this.options;
    this.refuseWhenLeaving();
    this.count += 1;
    const executor = { node, executor: `w${worker}-${this.count}`, generation: randomHex(6) };
    if (!(await store.grant(executor)))
      throw new StoreUnavailable("this node is gone from the store", { isSent: false });
    this.refuseWhenLeaving();
    board.clearWorker(worker);
    const { executor: name, generation } = executor;
    const tokenBase = randomHex(6);
    board.claims.seat(worker, { executor: name, tokenBase });
    const init: WorkerInit = {
      settings,
      node,
      executor: name,
      generation,
      tokenBase,
      worker,
      board: board.buffer,
      channels,
    };
    const sitter: Sitter = {
      thread: threadFor("worker"),
      executor,
      startedAt: performance.now(),
      readiness: Promise.withResolvers(),
      drained: Promise.withResolvers(),
      isReady: false,
      ending: undefined,
      isRetired: false,
    };
    this.sitter = sitter;
    sitter.thread.begin(init, (message) => this.hear(sitter, message));
    void sitter.thread.ended.then((end) => this.bury(sitter, end));
    const slow = setTimeout(
      () => logger.warn("a worker is not ready yet: a module or a startup callback takes long", { worker }),
      slowStartMs,
    );
    try {
      await sitter.readiness.promise;
    } finally {
      clearTimeout(slow);
    }
  }

  /** Lets it reserve; a thread that died since it was ready is replaced. */
  go(): void {
    this.hasGone = true;
    if (this.sitter === undefined) return void this.replace();
    this.send({ type: "go" });
    if (this.options.board.isQuiet) this.send({ type: "quiet" });
  }

  /** Whether a thread sits here. */
  get isTaken(): boolean {
    return this.sitter?.isReady ?? false;
  }

  send(message: ToWorker): void {
    this.sitter?.thread.send(message);
  }

  /** Tells it to finish. Resolves when everything it held is settled, or its thread has ended. */
  async drain(): Promise<void> {
    this.leaving.abort();
    const { sitter } = this;
    if (sitter === undefined) return;
    if (!sitter.isReady) return void sitter.thread.terminate(terminateMs); // it held nothing yet
    sitter.thread.send({ type: "drain" });
    await sitter.drained.promise;
  }

  /** Ends the thread for a job's sake; it is replaced. False when there is none, or it is ending already. */
  end(reason: Pick<DeadWorker, "error" | "culprits">): boolean {
    const { sitter } = this;
    if (sitter === undefined || sitter.ending !== undefined) return false;
    sitter.ending = reason;
    void sitter.thread.terminate(terminateMs).then((hasEnded) => {
      if (!hasEnded)
        this.options.logger.error("a worker is held by a native call and cannot be ended yet", {
          worker: this.options.worker,
        });
    });
    return true;
  }

  /** For good. False when a native call still holds the thread. */
  async terminate(): Promise<boolean> {
    this.leaving.abort();
    return (await this.sitter?.thread.terminate(terminateMs)) ?? true;
  }

  private get isLeaving(): boolean {
    return this.leaving.signal.aborted;
  }

  private refuseWhenLeaving(): void {
    if (this.isLeaving) throw new SolidJobsError("STOPPED", "the node stops: no worker is started any more");
  }

  private hear(sitter: Sitter, message: FromWorker): void {
    const { logger, worker, onSlotsHint } = this.options;
    switch (message.type) {
      case "ready":
        sitter.isReady = true;
        return sitter.readiness.resolve();
      case "failed":
        return sitter.readiness.reject(bootFailure(message));
      case "slots-hint":
        return onSlotsHint();
      case "broken":
        return logger.error(`a worker's loop failed: ${message.message}`, { worker });
      case "retired":
        return this.retire(sitter);
      case "drained":
        return sitter.drained.resolve();
    }
  }

  /** Somebody took its generation away, or a failover lost it: only a new thread may reserve again. */
  private retire(sitter: Sitter): void {
    if (this.isLeaving || sitter.isRetired) return;
    sitter.isRetired = true;
    this.options.logger.warn("a worker lost its permission to reserve: it finishes and is replaced", {
      worker: this.options.worker,
    });
    sitter.thread.send({ type: "drain" });
  }

  /** The thread has ended; unasked, this is a death. */
  private async bury(sitter: Sitter, end: ThreadEnd): Promise<void> {
    const { logger, worker, board } = this.options;
    const holding = board.jobs(worker).find(({ slot }) => slot === board.holdingSlot(worker));
    const running = board.jobs(worker).map(({ slot }) => slot);
    const unbegun = board.claims.unbegun(worker).map(({ token }) => token);
    board.clearWorker(worker);
    this.sitter = undefined;
    const error = sitter.ending?.error ?? death(end);
    sitter.readiness.reject(error);
    sitter.drained.resolve();
    if (this.isLeaving || !sitter.isReady) return;
    const { executor, ending, isRetired } = sitter;
    const wasEnded = ending !== undefined || (isRetired && end.code === 0);
    if (!wasEnded)
      logger.error(`a worker's thread died: ${error.message}`, { worker, executor: executor.executor });
    const culprits = ending?.culprits ?? (wasEnded ? [] : holding && [holding]);
    await this.settle({ executor, error, culprits, running, unbegun, wasEnded });
    this.deaths = performance.now() - sitter.startedAt > longLifeMs ? 1 : this.deaths + 1;
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
        await pause(Math.min(100 * 2 ** failures, 2000), this.leaving.signal);
      }
    }
  }

  /** Until a new thread is ready. One that died between ready and go is found by both. */
  private async replace(): Promise<void> {
    if (this.isReplacing) return;
    this.isReplacing = true;
    await this.startAnother();
    this.isReplacing = false;
  }

  private async startAnother(): Promise<void> {
    const { logger, worker, onFatal } = this.options;
    let failures = 0;
    if (this.deaths > 1) await pause(this.delayMs, this.leaving.signal);
    while (!this.isLeaving) {
      try {
        await this.start();
        this.go();
        return logger.info("a worker was replaced", { worker });
      } catch (thrown) {
        if (this.isLeaving) return;
        const error = toError(thrown);
        if (error instanceof ConfigurationError || !(error instanceof SolidJobsError)) return onFatal(error);
        if (error instanceof ThreadDied) {
          this.deaths += 1;
          logger.error(`a worker's thread died before it was ready: ${error.message}`, { worker });
          await pause(this.delayMs, this.leaving.signal);
          continue;
        }
        if (failures === 0) logger.error(`a worker is not replaced yet: ${error.message}`, { worker });
        await pause(Math.min(100 * 2 ** failures, 2000), this.leaving.signal);
        failures += 1;
      }
    }
  }

  private get delayMs(): number {
    return Math.min(1000 * 2 ** (this.deaths - 2), longestReplaceMs);
  }
}

/** Modules and options stay wrong until they are changed; a `startup` callback or the store may do better. */
function bootFailure({ code, message }: Extract<FromWorker, { type: "failed" }>): SolidJobsError {
  if (code === "STORE_UNAVAILABLE") return new StoreUnavailable(message, { isSent: false });
  if (code === "STARTUP") return new SolidJobsError(code, `a startup callback failed: ${message}`);
  return new ConfigurationError(message, { code });
}

function death({ code, reason, neverListened }: ThreadEnd): ThreadDied {
  if (neverListened !== undefined) return new ThreadDied(neverListened);
  if (reason !== undefined) return new ThreadDied(`its thread ended with an error: ${firstLines(reason)}`);
  return new ThreadDied(`its thread ended with code ${code} (process.exit in a job, or an end from outside)`);
}

function firstLines(text: string): string {
  return text.split("\n").slice(0, 12).join("\n").slice(0, 1000);
}

/** The reason with which a thread is ended for jobs that ran past their timeouts. */
export function pastTimeout(
  culprits: NonNullable<DeadWorker["culprits"]>,
): Pick<DeadWorker, "error" | "culprits"> {
  return {
    error: new JobTimeout("ran past its timeout and did not end on its signal: its thread was ended"),
    culprits,
  };
}
