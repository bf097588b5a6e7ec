import type { LifecycleCallback } from "../config/hooks.ts";
import { adoptSettings, processConfiguration } from "../config/process.ts";
import { threadEmitter, threadLogger } from "../config/thread-parts.ts";
import { SolidJobsError, StoreUnavailable, toError } from "../foundation/errors.ts";
import { pause } from "../foundation/time.ts";
import type { Emitter } from "../instrumentation/emitter.ts";
import type { Logger } from "../instrumentation/logger.ts";
import { close as closePublishing } from "../publisher/process-publisher.ts";
import { storeFor } from "../store/open.ts";
import type { Store } from "../store/store.ts";
import { loadTasks } from "../task/loader.ts";
import { Board } from "./board.ts";
import { ChannelPicker } from "./channel-order.ts";
import { Executor } from "./executor.ts";
import { Failing } from "./failing.ts";
import { WorkerLoop } from "./loop.ts";
import { LoopWatch } from "./loop-watch.ts";
import type { FromWorker, ToWorker, WorkerInit } from "./messages.ts";
import { RunningReport } from "./running-report.ts";
import { StoreClock } from "./store-clock.ts";
import { guardAgainstStrays } from "./strays.ts";

export type Say = (message: FromWorker) => void;

/**
 * What a worker thread does: load the modules and open a connection, run `startup`, say `ready`, wait for
 * `go`, run the loop until told to drain, run `shutdown`, say `drained`.
 */
export class WorkerProgram {
  private readonly init: WorkerInit;
  private readonly say: Say;
  private readonly board: Board;
  private readonly logger: Logger;
  private parts: Parts | undefined;
  private watch: LoopWatch | undefined;
  private readonly go = Promise.withResolvers<void>();
  private quieting: Promise<void> | undefined;
  private isDraining = false;

  constructor(init: WorkerInit, say: Say) {
    this.init = init;
    this.say = say;
    this.board = Board.over(init.board, init.settings);
    adoptSettings(init.settings);
    this.logger = threadLogger().with({ worker: init.executor });
  }

  /** Resolves when the thread has nothing left to do. */
  async run(): Promise<void> {
    try {
      this.parts = await this.prepare();
    } catch (error) {
      this.say(failure(error));
      return;
    }
    this.say({ type: "ready" });
    await this.go.promise;
    const { loop, report, store, executor } = this.parts;
    if (this.isDraining) loop.drain();
    const { board, logger } = this;
    const { worker, settings } = this.init;
    this.watch = new LoopWatch({ board, worker, slots: settings.slots, executor, report, logger });
    try {
      await loop.run();
      await report.stop();
      await this.quieting;
      await this.call("shutdown", processConfiguration().hooks.shutdown);
      await closePublishing();
    } finally {
      this.watch.stop();
      await store.close();
    }
    this.say({ type: "drained" });
  }

  obey(message: ToWorker): void {
    const { parts } = this;
    switch (message.type) {
      case "go":
        return this.go.resolve();
      case "quiet":
        parts?.loop.stopReserving();
        return this.quiet();
      case "drain":
        this.isDraining = true;
        parts?.loop.drain();
        this.quiet();
        return this.go.resolve();
      case "stir":
        return this.watch?.stir();
      case "abort":
        for (const execution of parts?.executor.running.values() ?? []) execution.interrupt(message.reason);
        return;
      case "recovered":
        for (const { jobId: id, channel, crashes } of message.jobs) {
          parts?.emitter.emit({ name: "job.recovered", job: { id, channel }, crashes });
        }
    }
  }

  private async prepare(): Promise<Parts> {
    const { settings, node, executor: name, generation, worker, channels, tokenBase } = this.init;
    const store = storeFor(settings, { writesAtOnce: true });
    const connected = store.serverIdentity(); // while the modules load
    connected.catch(() => "awaited below");
    await loadTasks(settings.require);
    const { hooks } = processConfiguration();
    const emitter = threadEmitter();
    const clock = new StoreClock();
    const failing = new Failing({
      settings,
      logger: this.logger,
      clock,
      errorHandlers: hooks.errorHandlers,
      exactBytes: (reservation) => answered(() => store.claimedBytes(executorName, reservation), this.logger),
    });
    const executorName = { node, executor: name, generation };
    const { board, logger } = this;
    const interceptors = hooks.executeInterceptors;
    const executor = new Executor({ settings, logger, emitter, interceptors, failing, board, worker });
    guardAgainstStrays({ executor, failing, logger });
    await this.callOrThrow(hooks.startup);
    await connected;
    const loop = new WorkerLoop({
      settings,
      store,
      name: executorName,
      worker,
      tokenBase,
      board,
      executor,
      picker: new ChannelPicker(channels, settings.channelOrder),
      emitter,
      logger,
      clock,
      onRetired: () => this.say({ type: "retired" }),
      onSlotsHint: () => this.say({ type: "slots-hint" }),
    });
    return {
      loop,
      executor,
      store,
      emitter,
      report: new RunningReport({ store, name: executorName, executor, logger }),
    };
  }

  private quiet(): void {
    this.quieting ??= this.call("quiet", processConfiguration().hooks.quiet);
  }

  private async call(point: string, callbacks: readonly LifecycleCallback[]): Promise<void> {
    for (const callback of callbacks) {
      try {
        await callback();
      } catch (thrown) {
        this.logger.error(`a ${point} callback threw`, { error: toError(thrown) });
      }
    }
  }

  /** A worker whose `startup` fails must not run jobs. */
  private async callOrThrow(callbacks: readonly LifecycleCallback[]): Promise<void> {
    for (const callback of callbacks) await callback();
  }
}

/** Asks until the store answers: a job's failure must not be lost with it. */
async function answered<T>(ask: () => Promise<T>, logger: Logger): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
      if (failures === 0)
        logger.warn(`a failed job's exact bytes are asked for until the store answers: ${error.message}`);
      await pause(Math.min(50 * 2 ** failures, 2000));
    }
  }
}

interface Parts {
  readonly loop: WorkerLoop;
  readonly executor: Executor;
  readonly store: Store;
  readonly emitter: Emitter;
  readonly report: RunningReport;
}

function failure(thrown: unknown): FromWorker & { type: "failed" } {
  const error = toError(thrown);
  return {
    type: "failed",
    code: error instanceof SolidJobsError ? error.code : "STARTUP",
    message: error.message,
  };
}
