import { expect, test } from "bun:test";
import { settingsFrom } from "../../src/config/resolve.ts";
import type { Settings } from "../../src/config/settings.ts";
import { Emitter } from "../../src/instrumentation/emitter.ts";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import type { Reservation, Store } from "../../src/store/store.ts";
import { Board } from "../../src/worker/board.ts";
import { ChannelPicker } from "../../src/worker/channel-order.ts";
import type { Ended, Executor } from "../../src/worker/executor.ts";
import { WorkerLoop } from "../../src/worker/loop.ts";
import { StoreClock } from "../../src/worker/store-clock.ts";
import { jobs as newJobs, nodeRecord } from "../store/conformance/harness.ts";
import { type SqliteHarness, sqliteHarness } from "../store/sqlite/harness.ts";
import { until } from "../support/until.ts";

const name = { node: "host~bun:7:0123456789ab", executor: "w0-1", generation: "g1" };

interface Parts {
  readonly given: Partial<Settings>;
  readonly run: (reservation: Reservation, board: Board) => Ended | Promise<Ended>;
  readonly jobs: number;
}

interface Scene {
  readonly board: Board;
  readonly loop: WorkerLoop;
  readonly store: Store;
}

/** One worker's loop in this thread, on an embedded store with so many jobs, whose jobs the test acts out. */
async function withLoop({ given, run, jobs }: Parts, act: (scene: Scene) => Promise<void>): Promise<void> {
  const harness: SqliteHarness = await sqliteHarness();
  const { store } = harness;
  const settings = settingsFrom({ env: {}, given: { ...given, url: `sqlite:${harness.path}` } });
  const board = Board.create({ ...settings, concurrency: 1 });
  await store.register(nodeRecord(name.node));
  await store.grant(name);
  board.clearWorker(0);
  board.claims.seat(0, { executor: name.executor, tokenBase: "base" });
  await store.publish(newJobs(jobs));
  const loop = new WorkerLoop({
    settings,
    store,
    name,
    worker: 0,
    tokenBase: "base",
    board,
    executor: { run: (reservation: Reservation) => run(reservation, board) } as unknown as Executor,
    picker: new ChannelPicker([{ name: "default", weight: 1 }], settings.channelOrder),
    emitter: new Emitter([], silentLogger),
    logger: silentLogger,
    clock: new StoreClock(),
    onRetired: () => {},
    onSlotsHint: () => {},
  });
  const running = loop.run();
  try {
    await act({ board, loop, store });
  } finally {
    loop.drain();
    await running;
    await harness.close();
  }
}

const done: Ended = { jobId: "", settlement: { outcome: "ack" } };

function burn(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

test("while the only slot's job runs, the board shows no free slot: nobody takes a long job for a stalled worker", async () => {
  const seen: number[] = [];
  const run = (_: Reservation, board: Board) => {
    seen.push(board.freeSlots(0));
    return done;
  };
  await withLoop({ given: { slots: 1 }, run, jobs: 40 }, async () => {
    await until(() => seen.length === 40);
  });
  expect(new Set(seen)).toEqual(new Set([0]));
});

test("jobs that are reserved begin while slots are free, also when beginning them takes long and no more come", async () => {
  const end = Promise.withResolvers<Ended>();
  let begun = 0;
  const run = () => {
    begun += 1;
    burn(1.5);
    return end.promise;
  };
  const given = { slots: 50, delivery: "at-most-once" } as const;
  await withLoop({ given, run, jobs: 15 }, async () => {
    await until(() => begun === 15, { limitMs: 5000 }); // sooner than an idle worker looks for itself
    end.resolve(done);
  });
  expect(begun).toBe(15);
});

test("what a job takes before its task runs counts too: nothing is reserved behind jobs that are slow to decode", async () => {
  const waiting: number[] = [];
  const run = (_: Reservation, board: Board): Ended => {
    waiting.push(board.claims.unbegun(0).length);
    burn(3);
    return done;
  };
  await withLoop({ given: { slots: 1 }, run, jobs: 60 }, async () => {
    await until(() => waiting.length === 60);
  });
  expect(new Set(waiting)).toEqual(new Set([0]));
});
