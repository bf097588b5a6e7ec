import { settingsFrom } from "../../src/config/resolve.ts";
import type { Settings } from "../../src/config/settings.ts";
import { Emitter } from "../../src/instrumentation/emitter.ts";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import type { CycleReply, CycleRequest, Reservation, Store } from "../../src/store/store.ts";
import { registerTasks } from "../../src/task/registry.ts";
import { Task } from "../../src/task/task.ts";
import { Board } from "../../src/worker/board.ts";
import { ChannelPicker } from "../../src/worker/channel-order.ts";
import { Executor } from "../../src/worker/executor.ts";
import { Failing } from "../../src/worker/failing.ts";
import { WorkerLoop } from "../../src/worker/loop.ts";
import { StoreClock } from "../../src/worker/store-clock.ts";
import { channel, payloadOf } from "./stand.ts";

/** Does nothing, as jobs do: async. */
class Grow extends Task {
  async executeTask(_index: number): Promise<void> {}
}

const payloads = Array.from({ length: 4096 }, (_, index) => payloadOf(index));

/** The parts of a worker in this thread, with a store that answers at once: what is left is the worker's own work. */
export class WorkerStand {
  readonly settings: Settings;
  readonly executor: Executor;
  private readonly board: Board;
  private readonly parts: ConstructorParameters<typeof Failing>[0];
  private readonly emitter = new Emitter([], silentLogger);

  constructor(lookAhead: number) {
    registerTasks([{ taskClass: Grow, origin: import.meta.path }]);
    const given = { url: "redis://localhost", concurrency: 1, slots: 1, lookAhead };
    this.settings = settingsFrom({ given, env: {} });
    this.board = Board.create(this.settings);
    this.parts = {
      ...{ settings: this.settings, logger: silentLogger, clock: new StoreClock(), errorHandlers: [] },
      exactBytes: async () => undefined,
    };
    this.executor = new Executor({
      ...{ settings: this.settings, logger: silentLogger, emitter: this.emitter, board: this.board },
      ...{ interceptors: [], worker: 0, failing: new Failing(this.parts) },
    });
  }

  /** Lets the worker's loop run so many jobs. @returns how many calls it made */
  async loop(jobs: number): Promise<number> {
    const store = new AnsweringStore(jobs, () => loop.drain());
    const loop = new WorkerLoop({
      ...{ settings: this.settings, store: store as unknown as Store, worker: 0, tokenBase: "t" },
      name: { node: "n", executor: "w0-1", generation: "g" },
      ...{ board: this.board, executor: this.executor, emitter: this.emitter, logger: silentLogger },
      picker: new ChannelPicker([{ name: channel, weight: 1 }], "weighted"),
      clock: new StoreClock(),
      ...{ onRetired() {}, onSlotsHint() {} },
    });
    await loop.run();
    return store.calls;
  }
}

/** Has so many jobs. */
class AnsweringStore {
  readonly epoch = 0;
  calls = 0;
  private left: number;
  private unsettled: number;
  private readonly whenDone: () => void;

  constructor(jobs: number, whenDone: () => void) {
    this.left = jobs;
    this.unsettled = jobs;
    this.whenDone = whenDone;
  }

  async cycle({ settlements, slots, tokenBase }: CycleRequest): Promise<CycleReply> {
    this.calls += 1;
    const count = Math.min(slots.length, this.left);
    this.left -= count;
    this.unsettled -= settlements.length;
    if (this.unsettled === 0) this.whenDone();
    return {
      ...{ nowMs: 0, isCurrent: true, hasStrays: false, archivedAsGarbage: 0 },
      ...{ refused: [], blocked: [], held: [], broken: [] },
      reserved: slots.slice(0, count).map((slot) => reservationOf(slot, `${tokenBase}.${slot}`)),
    };
  }
}

let taken = 0;

export function reservationOf(slot: number, token: string): Reservation {
  taken += 1;
  const raw = payloads[taken % payloads.length] as string;
  return { slot, token, channel, earlierAttempts: 0, raw };
}
