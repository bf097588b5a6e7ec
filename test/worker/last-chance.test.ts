import { expect, test } from "bun:test";
import { settingsFrom } from "../../src/config/resolve.ts";
import { Emitter } from "../../src/instrumentation/emitter.ts";
import type { Logger } from "../../src/instrumentation/logger.ts";
import { createLogger } from "../../src/instrumentation/logger-output.ts";
import type { Executor as ExecutorName, Publication, Reservation } from "../../src/store/store.ts";
import { Board } from "../../src/worker/board.ts";
import { ChannelPicker } from "../../src/worker/channel-order.ts";
import type { Ended, Executor } from "../../src/worker/executor.ts";
import { WorkerLoop } from "../../src/worker/loop.ts";
import { StoreClock } from "../../src/worker/store-clock.ts";
import { idOf, job, nodeRecord } from "../store/conformance/harness.ts";
import { type SqliteHarness, sqliteHarness } from "../store/sqlite/harness.ts";
import { until } from "../support/until.ts";

const node = "host~bun:7:0123456789ab";

/** A node's workers in this thread, whose jobs run until the test ends them. */
class Workers implements AsyncDisposable {
  readonly harness: SqliteHarness;
  readonly board: Board;
  readonly loops: WorkerLoop[] = [];
  readonly log: string[] = [];
  /** The ids of jobs that run, in the order in which they began. */
  readonly running = new Map<string, () => void>();
  /** Each job as it began, with how many ran then, itself included. */
  readonly begun: { readonly id: string; readonly company: number }[] = [];
  private readonly ends: Promise<void>[] = [];

  private constructor(harness: SqliteHarness, board: Board) {
    this.harness = harness;
    this.board = board;
  }

  static async start({ concurrency = 2, slots = 1, firstWaitMs = 60_000 } = {}): Promise<Workers> {
    const harness = await sqliteHarness();
    const { store } = harness;
    await store.register(nodeRecord(node));
    const given = { concurrency, slots, url: `sqlite:${harness.path}` };
    const settings = settingsFrom({ env: {}, given });
    const workers = new Workers(harness, Board.create(settings));
    const logger = createLogger({
      level: "warn",
      isTty: false,
      write: (line) => void workers.log.push(JSON.parse(line).message),
    });
    for (let worker = 0; worker < concurrency; worker++) {
      const name = { node, executor: `w${worker}-1`, generation: "g1" };
      await store.grant(name);
      workers.board.clearWorker(worker);
      workers.add(worker, name, { settings, logger, firstWaitMs });
    }
    return workers;
  }

  private add(
    worker: number,
    name: ExecutorName,
    parts: { settings: ReturnType<typeof settingsFrom>; logger: Logger; firstWaitMs: number },
  ): void {
    const { settings, logger } = parts;
    const loop = new WorkerLoop({
      ...parts,
      store: this.harness.store,
      name,
      worker,
      tokenBase: `base${worker}`,
      board: this.board,
      executor: { run: (reservation: Reservation) => this.run(reservation) } as unknown as Executor,
      picker: new ChannelPicker([{ name: "default", weight: 1 }], settings.channelOrder),
      emitter: new Emitter([], logger),
      clock: new StoreClock(),
      onRetired: () => {},
      onSlotsHint: () => {},
    });
    this.loops.push(loop);
  }

  go(): void {
    for (const loop of this.loops) this.ends.push(loop.run());
  }

  async publish(...jobs: readonly Publication[]): Promise<void> {
    await this.harness.store.publish(jobs);
    this.board.wakeAll(-1);
  }

  /** A job of this id, suspected as after a death of its node. */
  async suspect(id: string): Promise<void> {
    const { database } = this.harness;
    database.run("INSERT INTO crashes VALUES (?, 1, 9e9)", [id]);
    database.run("INSERT INTO suspects (id, crashes, alone, expires_at) VALUES (?, 1, 0, 9e9)", [id]);
    await this.publish(job({ id }));
  }

  async began(id: string): Promise<{ readonly company: number }> {
    await until(() => this.running.has(id), { what: `${id} to begin; log: ${this.log.join("; ")}` });
    return this.begun.findLast((each) => each.id === id)!;
  }

  end(id: string): void {
    this.running.get(id)?.();
  }

  async settled(): Promise<void> {
    await until(async () => (await this.harness.claims(node)).length === 0);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const loop of this.loops) loop.drain();
    for (const end of this.running.values()) end();
    await Promise.all(this.ends);
    await this.harness.close();
  }

  private run({ raw }: Reservation): Promise<Ended> {
    const id = idOf(raw);
    const { promise, resolve } = Promise.withResolvers<Ended>();
    this.running.set(id, () => {
      this.running.delete(id);
      resolve({ jobId: id, settlement: { outcome: "ack" } });
    });
    this.begun.push({ id, company: this.running.size });
    return promise;
  }
}

test("a suspect begins when its neighbours have ended; nobody reserves until it has ended and is settled", async () => {
  await using workers = await Workers.start();
  await workers.publish(job({ id: "neighbour" }));
  workers.go();
  await workers.began("neighbour");
  await workers.suspect("suspect");
  await until(() => workers.board.hold.isHeld);
  await workers.publish(job({ id: "later" }), job({ id: "last" }));
  workers.end("neighbour");
  expect(await workers.began("suspect")).toMatchObject({ company: 1 });
  expect(workers.board.hold.isHeld).toBe(true);
  workers.end("suspect");
  await workers.began("later");
  await workers.began("last");
  expect(workers.begun.map(({ id }) => id)).toEqual(["neighbour", "suspect", "later", "last"]);
  expect(workers.board.hold.isHeld).toBe(false);
  expect(await workers.harness.crashes("suspect")).toBe(0);
});

test("a worker's own other jobs end first; those reserved with the suspect and not begun go back and run after it", async () => {
  await using workers = await Workers.start({ concurrency: 1, slots: 4 });
  await workers.publish(job({ id: "first" }));
  workers.go();
  await workers.began("first");
  await workers.harness.pause("default");
  await workers.suspect("suspect");
  await workers.publish(job({ id: "a" }), job({ id: "b" }));
  await workers.harness.resume("default");
  workers.board.wakeAll(-1);
  await until(() => workers.board.hold.isHeld);
  workers.end("first");
  expect(await workers.began("suspect")).toMatchObject({ company: 1 });
  workers.end("suspect");
  await workers.began("a");
  await workers.began("b");
  expect(workers.begun.map(({ id }) => id)).toEqual(["first", "suspect", "a", "b"]);
});

test("of several suspects each runs alone, one after the other", async () => {
  await using workers = await Workers.start({ concurrency: 3 });
  const ids = ["s1", "s2", "s3", "s4"];
  for (const id of ids) await workers.suspect(id);
  workers.go();
  for (let done = 1; done <= ids.length; done++) {
    await until(() => workers.running.size === 1);
    const [id] = workers.running.keys();
    workers.end(id!);
    await until(() => workers.begun.length > done || done === ids.length);
  }
  await workers.settled();
  expect(workers.begun.map(({ id }) => id).toSorted()).toEqual(ids);
  expect(workers.begun.filter(({ company }) => company !== 1)).toEqual([]);
  expect(workers.board.hold.isHeld).toBe(false);
});

test("a suspect whose neighbours take too long is put off, uncounted, and the node goes on", async () => {
  await using workers = await Workers.start({ firstWaitMs: 50 });
  await workers.publish(job({ id: "long" }));
  workers.go();
  await workers.began("long");
  await workers.suspect("suspect");
  await until(async () => (await workers.harness.retries()).length === 1);
  const [{ payload, atMs }] = (await workers.harness.retries()) as [{ payload: string; atMs: number }];
  expect(idOf(payload)).toBe("suspect");
  expect(atMs).toBeGreaterThan((await workers.harness.nowMs()) - 5000);
  await workers.publish(job({ id: "other" }));
  await workers.began("other");
  expect(workers.board.hold.isHeld).toBe(false);
  expect(await workers.harness.counters()).toEqual({ processed: 0, failed: 0 });
  expect(workers.log).toContain("a suspect was put off: other jobs of its node ran for too long");
  const told = workers.harness.database.query("SELECT waits FROM suspects WHERE id = 'suspect'").get();
  expect(told).toEqual({ waits: 1 });
});

test("a node that stops does not wait for a suspect's chance: it goes back as it was", async () => {
  const workers = await Workers.start();
  await workers.publish(job({ id: "long" }));
  workers.go();
  await workers.began("long");
  await workers.suspect("suspect");
  await until(() => workers.board.hold.isHeld);
  for (const loop of workers.loops) loop.drain();
  await until(async () => (await workers.harness.channel("default")).map(idOf).join() === "suspect");
  expect(workers.board.hold.isHeld).toBe(false);
  expect(await workers.harness.claims(node)).toEqual(["long"]);
  await workers[Symbol.asyncDispose]();
});

test("a suspect whose claim was taken away meanwhile does not begin, and the node goes on", async () => {
  await using workers = await Workers.start();
  await workers.publish(job({ id: "neighbour" }));
  workers.go();
  await workers.began("neighbour");
  await workers.suspect("suspect");
  await until(() => workers.board.hold.isHeld);
  workers.harness.database.run("DELETE FROM claims WHERE id = 'suspect'");
  workers.end("neighbour");
  await workers.publish(job({ id: "other" }));
  await workers.began("other");
  expect(workers.begun.map(({ id }) => id)).toEqual(["neighbour", "other"]);
});

test("a worker that ended, or whose thread is gone, keeps no suspect waiting", async () => {
  await using workers = await Workers.start({ concurrency: 3 });
  workers.go();
  workers.loops[0]?.drain();
  workers.board.clearWorker(0);
  await workers.suspect("suspect");
  expect(await workers.began("suspect")).toMatchObject({ company: 1 });
});
