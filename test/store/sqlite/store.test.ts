import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { readdirSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { Presence } from "../../../src/store/sqlite/presence.ts";
import { aWorker, cycle, idsOf, job, jobs, settle } from "../conformance/harness.ts";
import { type SqliteHarness, sqliteHarness } from "./harness.ts";

let harness: SqliteHarness;
beforeEach(async () => {
  harness = await sqliteHarness();
});
afterEach(() => harness.close());

describe("a transaction that fails", () => {
  test("leaves no channel's number behind that another channel gets", async () => {
    const { store, database, another, channel } = harness;
    database.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON ready WHEN new.id = 'boom' BEGIN SELECT raise(ABORT, 'refused'); END",
    );
    const doomed = [job({ channel: "a" }), job({ channel: "b" }), job({ channel: "a" }), job({ id: "boom" })];
    await expect(store.publish(doomed)).rejects.toMatchObject({ code: "STORE_ERROR" });
    await (await another()).publish([job({ channel: "b", id: "other" })]);
    await store.publish([job({ channel: "a", id: "mine" })]);
    const ids = async (name: string) =>
      (await channel(name)).map((text) => (JSON.parse(text) as { id: string }).id);
    expect(await ids("a")).toEqual(["mine"]);
    expect(await ids("b")).toEqual(["other"]);
  });

  test("settles nothing of its cycle and reserves nothing: sent again, all of it takes effect", async () => {
    const { store, database, retries } = harness;
    const worker = await aWorker(store);
    const given = jobs(3);
    await store.publish(given);
    const { reserved } = await cycle(store, worker, { slots: 2 });
    const settlements = [
      settle(reserved[0]!, { outcome: "ack" }),
      settle(reserved[1]!, { outcome: "retry", delaySeconds: 9, payload: given[1]!.payload }),
    ];
    database.run("CREATE TRIGGER refuse BEFORE INSERT ON jobs BEGIN SELECT raise(ABORT, 'refused'); END");
    const request = { settlements, slots: 2 };
    await expect(cycle(store, worker, request)).rejects.toMatchObject({ code: "STORE_ERROR" });
    expect(await harness.claims(worker.node)).toHaveLength(2);
    expect(await harness.counters()).toEqual({ processed: 0, failed: 0 });
    database.run("DROP TRIGGER refuse");
    const reply = await cycle(store, worker, request);
    expect(reply.refused).toEqual([]);
    expect(idsOf(reply)).toEqual([given[2]!.id]);
    expect(await retries()).toHaveLength(1);
  });
});

describe("the file", () => {
  test("is not held by a reservation that stopped reading early: its log can be written back whole", async () => {
    const { store, database } = harness;
    const worker = await aWorker(store);
    await store.publish(jobs(50));
    await cycle(store, worker, { slots: 10 });
    const [result] = database
      .query<{ busy: number; log: number }, []>("PRAGMA wal_checkpoint(TRUNCATE)")
      .all();
    expect(result).toMatchObject({ busy: 0, log: 0 });
  });

  test("stands alone when its last store has left and closed", async () => {
    const { store, database, path } = harness;
    const { node } = await aWorker(store);
    await store.leave(node);
    database.close();
    await store.close();
    expect(readdirSync(dirname(path))).toEqual(["jobs.sqlite"]);
  });

  test("has its log written back by a main thread that publishes alone before that takes long", async () => {
    const { store, path } = harness;
    for (let i = 0; i < 45; i++) await store.publish(jobs(10, { args: `["${"x".repeat(100_000)}"]` }));
    expect(statSync(`${path}-wal`).size).toBeLessThan(30_000_000);
  });

  test("a large job's claim and requeue write little, however large it is", async () => {
    const { store, database } = harness;
    const worker = await aWorker(store);
    await store.publish([job({ args: `["${"x".repeat(5_000_000)}"]` })]);
    database.run("PRAGMA wal_checkpoint(TRUNCATE)");
    const [reserved] = (await cycle(store, worker, { slots: 1 })).reserved;
    await cycle(store, worker, { settlements: [settle(reserved!, { outcome: "requeue" })] });
    const [result] = database.query<{ log: number }, []>("PRAGMA wal_checkpoint(PASSIVE)").all();
    expect(result?.log).toBeGreaterThan(0);
    expect(result?.log).toBeLessThan(40); // pages; the payload alone has 1,200
  });
});

describe("a retry that is no envelope", () => {
  test("stays in its job's channel, with its bytes, for the worker that archives it", async () => {
    const { store, channel } = harness;
    const worker = await aWorker(store);
    await store.publish([job({ channel: "c" })]);
    const channels = [{ channel: "c", quota: 1 }];
    const [reserved] = (await cycle(store, worker, { slots: 1, channels })).reserved;
    const payload = Buffer.from("\xff no envelope", "latin1");
    const settlements = [settle(reserved!, { outcome: "retry", delaySeconds: 0, payload })];
    expect(await cycle(store, worker, { settlements })).toMatchObject({ refused: [], blocked: [] });
    expect(await store.promoteDue()).toMatchObject({ retries: 1 });
    expect(await channel("c")).toEqual([payload.toString("utf8")]);
  });
});

describe("the lock of a node", () => {
  test("is free for nobody while it is held, for anybody after its holder closed, and gone when released", () => {
    const [holder, judge] = [new Presence(harness.path), new Presence(harness.path)];
    expect(judge.stateOf("a")).toBe("unknown");
    holder.hold("a");
    holder.hold("a");
    expect([holder.stateOf("a"), judge.stateOf("a"), judge.stateOf("b")]).toEqual([
      "alive",
      "alive",
      "unknown",
    ]);
    holder.close();
    expect(judge.stateOf("a")).toBe("gone");
    expect(judge.stateOf("a")).toBe("gone");
    judge.release("a");
    expect(judge.stateOf("a")).toBe("unknown");
  });
});
