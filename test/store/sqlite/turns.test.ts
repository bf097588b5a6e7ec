import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { newTurnsPass, Turns, type TurnsPass, threadTurns } from "../../../src/store/sqlite/turns.ts";
import { until } from "../../support/until.ts";
import { type SqliteHarness, sqliteHarness } from "./harness.ts";
import type { TurnTakerInit } from "./turn-taker.ts";

let harness: SqliteHarness;
beforeEach(async () => {
  harness = await sqliteHarness();
});
afterEach(() => harness.close());

interface Taker {
  readonly worker: Worker;
  readonly pass: TurnsPass;
  /** Resolves when it says so, or its thread is over. */
  readonly ended: Promise<void>;
}

async function taker(counts: SharedArrayBuffer, index: number, isHanging = false): Promise<Taker> {
  const pass = newTurnsPass();
  const worker = new Worker(new URL("./turn-taker.ts", import.meta.url).href);
  const ended = Promise.withResolvers<void>();
  const isReady = Promise.withResolvers<void>();
  worker.onmessage = ({ data }) => (data === "ready" ? isReady : ended).resolve();
  worker.addEventListener("close", () => ended.resolve());
  await isReady.promise;
  const { path } = harness;
  worker.postMessage({ path, pass, index, counts, isHanging } satisfies TurnTakerInit);
  return { worker, pass, ended: ended.promise };
}

const processed = () => harness.counters().then((counters) => counters.processed);

describe("turns at the file", () => {
  test("four threads that write without a pause get even shares, and the main thread gets its turn", async () => {
    const counts = new SharedArrayBuffer(5 * 4);
    const cells = new Int32Array(counts);
    const takers = await Promise.all([0, 1, 2, 3].map((index) => taker(counts, index)));
    const total = () => cells.slice(0, 4).reduce((sum, each) => sum + each, 0);
    await until(() => cells.slice(0, 4).every((each) => each > 50));
    const before = cells.slice(0, 4);
    const begun = total();
    let publications = 0;
    while (total() < begun + 6000) {
      await harness.store.publish([{ id: `p${publications}`, channel: "default", payload: "{}" }]);
      publications += 1;
    }
    const shares = [...cells.slice(0, 4)].map((count, index) => count - before[index]!);
    Atomics.store(cells, 4, 1);
    await Promise.all(takers.map(({ ended }) => ended));
    for (const { worker } of takers) worker.terminate();
    expect(publications).toBeGreaterThan(5);
    expect(Math.min(...shares)).toBeGreaterThan(6000 / 4 / 3);
    expect(await processed()).toBe(total());
  }, 60_000);

  test("a thread that is ended inside its transaction leaves nothing of it, and its turn is freed", async () => {
    const counts = new SharedArrayBuffer(3 * 4);
    const cells = new Int32Array(counts);
    const dying = await taker(counts, 0, true);
    await until(() => Atomics.load(cells, 0) === 1);
    expect(threadTurns().take(1)).toBe(false);
    const other = await taker(counts, 1);
    dying.worker.terminate();
    await dying.ended;
    threadTurns().free(dying.pass.holder);
    await until(() => Atomics.load(cells, 1) > 20);
    Atomics.store(cells, 2, 1);
    await other.ended;
    other.worker.terminate();
    expect(await processed()).toBe(Atomics.load(cells, 1));
    expect(threadTurns().take(1000)).toBe(true);
    threadTurns().giveBack();
  }, 60_000);

  test("nobody waits for a dead holder for ever, and nobody twice, although nobody frees its turn", async () => {
    const counts = new SharedArrayBuffer(3 * 4);
    const cells = new Int32Array(counts);
    const dying = await taker(counts, 0, true);
    await until(() => Atomics.load(cells, 0) === 1);
    dying.worker.terminate();
    await dying.ended;
    try {
      const other = await taker(counts, 1);
      await until(() => Atomics.load(cells, 1) > 200);
      await harness.store.publish([{ id: "a", channel: "default", payload: "{}" }]);
      Atomics.store(cells, 2, 1);
      await other.ended;
      other.worker.terminate();
      expect(await processed()).toBe(Atomics.load(cells, 1));
    } finally {
      threadTurns().free(dying.pass.holder);
    }
  }, 60_000);

  test("the turn is taken once, given back by its holder only, and freed for a dead one only", () => {
    const buffer = new SharedArrayBuffer(32);
    const [one, two] = [new Turns(buffer, 1), new Turns(buffer, 2)];
    expect(one.take(0)).toBe(true);
    expect(two.take(5)).toBe(false);
    two.giveBack();
    expect(two.take(0)).toBe(false);
    one.free(2);
    expect(two.take(0)).toBe(false);
    two.free(1);
    expect(two.take(0)).toBe(true);
    one.giveBack();
    expect(one.take(0)).toBe(false);
    two.giveBack();
    expect(one.take(0)).toBe(true);
  });

  test("waiting without blocking ends at the turn, or after its time", async () => {
    const buffer = new SharedArrayBuffer(32);
    const [one, two] = [new Turns(buffer, 1), new Turns(buffer, 2)];
    one.take(0);
    expect(await two.takeAsync(15)).toBe(false);
    const taken = two.takeAsync(20_000);
    one.giveBack();
    expect(await taken).toBe(true);
    expect(one.take(0)).toBe(false);
  });
});
