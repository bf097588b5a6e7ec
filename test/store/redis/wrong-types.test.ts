import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { StoreError } from "../../../src/foundation/errors.ts";
import type { Executor } from "../../../src/store/store.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { aWorker, cycle, idsOf, job, jobs, nodeRecord, settle } from "../conformance/harness.ts";
import { type RedisHarness, redisHarness } from "./harness.ts";

let server: RedisServer;
let harness: RedisHarness;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());
beforeEach(async () => {
  harness = await redisHarness(server.url);
});
afterEach(() => harness.close());

/** Puts a key of another type in a key's place; gives what the whole database holds afterwards. */
async function spoil(key: string, how: "string" | "hash" | "list" = "string"): Promise<void> {
  const { send, prefix } = harness;
  await send("DEL", `${prefix}${key}`);
  if (how === "string") await send("SET", `${prefix}${key}`, "spoilt");
  if (how === "hash") await send("HSET", `${prefix}${key}`, "a", "b");
  if (how === "list") await send("RPUSH", `${prefix}${key}`, "a");
}

/** Every key with its contents, to see that a refused call changed nothing. */
async function contents(): Promise<Record<string, unknown>> {
  const { send, prefix } = harness;
  const keys = ((await send("KEYS", `${prefix}*`)) as string[]).toSorted();
  const dumps: Record<string, unknown> = {};
  for (const key of keys) {
    const type = await send("TYPE", key);
    const read: Record<string, () => Promise<unknown>> = {
      string: () => send("GET", key),
      list: () => send("LRANGE", key, 0, -1),
      hash: () => send("HGETALL", key),
      set: async () => ((await send("SMEMBERS", key)) as string[]).toSorted(),
      zset: () => send("ZRANGE", key, 0, -1, "WITHSCORES"),
    };
    dumps[key] = await read[String(type)]!();
  }
  return dumps;
}

async function expectRefusal(call: () => Promise<unknown>, named: string): Promise<void> {
  const before = await contents();
  const error = await call().then(
    () => undefined,
    (thrown) => thrown,
  );
  expect(error).toBeInstanceOf(StoreError);
  expect((error as Error).message).toContain("WRONGTYPE");
  expect((error as Error).message).toContain(named);
  expect(await contents()).toEqual(before);
}

describe("publishing with a key of the wrong type is refused, and nothing of the batch is stored", () => {
  const batch = () => [
    job({ channel: "a" }),
    job({ channel: "b" }),
    job({ channel: "c", due: { afterSeconds: 1 } }),
  ];

  test.each(["channel:b", "planned"])("%s", async (key) => {
    await spoil(key);
    await expectRefusal(() => harness.store.publish(batch(), "barrier"), key);
  });

  test("channels", async () => {
    await spoil("channels", "list");
    await expectRefusal(() => harness.store.publish(batch(), "barrier"), "channels");
  });

  test.each(["channels", "channel:a"])("one job alone: %s", async (key) => {
    await spoil(key, "hash");
    await expectRefusal(() => harness.store.publish([job({ channel: "a" })]), key);
  });
});

describe("a cycle", () => {
  let worker: Executor;
  beforeEach(async () => {
    worker = await aWorker(harness.store);
  });

  test("serves the other channels where one is a key of the wrong type, and tells which", async () => {
    const { store } = harness;
    await spoil("channel:bad");
    const good = job();
    await store.publish([good]);
    const channels = [
      { channel: "bad", quota: 1 },
      { channel: "default", quota: 1 },
    ];
    const reply = await cycle(store, worker, { slots: 2, channels });
    expect(idsOf(reply)).toEqual([good.id]);
    expect(reply.broken).toMatchObject([{ channel: "bad", reason: expect.stringContaining("WRONGTYPE") }]);
  });

  test("serves no channel where it cannot be told which are paused, but settles", async () => {
    const { store, channel, counters } = harness;
    await store.publish(jobs(2));
    const { reserved } = await cycle(store, worker, { slots: 1 });
    await spoil("paused_channels");
    const reply = await cycle(store, worker, {
      settlements: [settle(reserved[0]!, { outcome: "ack" })],
      slots: 1,
    });
    expect(reply.refused).toEqual([]);
    expect(reply.reserved).toEqual([]);
    expect(reply.broken).toMatchObject([
      { channel: "default", reason: expect.stringContaining("paused_channels") },
    ]);
    expect(await counters()).toEqual({ processed: 1, failed: 0 });
    expect(await channel("default")).toHaveLength(1);
  });

  test("is refused whole where the claims are a key of the wrong type", async () => {
    await harness.store.publish([job()]);
    await spoil(`node:${worker.node}:claims`);
    await expectRefusal(() => cycle(harness.store, worker, { slots: 1 }), ":claims");
  });

  test("blocks the settlements that need a key of the wrong type, and carries out the others", async () => {
    const { store, claims } = harness;
    await store.publish(jobs(4));
    const { reserved } = await cycle(store, worker, { slots: 4 });
    await spoil("retries");
    await spoil("discarded");
    await spoil("channel:default");
    const settlements = [
      settle(reserved[0]!, { outcome: "retry", delaySeconds: 1, payload: reserved[0]!.raw }),
      settle(reserved[1]!, { outcome: "archive", payload: reserved[1]!.raw }),
      settle(reserved[2]!, { outcome: "requeue" }),
      settle(reserved[3]!, { outcome: "ack" }),
    ];
    const reply = await cycle(store, worker, { settlements });
    expect(reply.refused).toEqual([]);
    expect(reply.blocked.map(({ settlement }) => settlement)).toEqual(settlements.slice(0, 3));
    expect(reply.blocked.map(({ reason }) => reason)).toEqual([
      expect.stringContaining("retries must be a sorted set, it is a string"),
      expect.stringContaining("discarded must be a sorted set, it is a string"),
      expect.stringContaining("WRONGTYPE"),
    ]);
    expect(await claims(worker.node)).toHaveLength(3);
    for (const key of ["retries", "discarded", "channel:default"])
      await harness.send("DEL", `${harness.prefix}${key}`);
    expect(await cycle(store, worker, { settlements: settlements.slice(0, 3) })).toMatchObject({
      refused: [],
      blocked: [],
    });
    expect(await claims(worker.node)).toEqual([]);
  });

  test("blocks a requeue whose claim record does not tell a channel any more", async () => {
    const { store, send, prefix, retries, claims } = harness;
    await store.publish(jobs(2));
    const { reserved } = await cycle(store, worker, { slots: 2 });
    const spoilt = `"claim_token":"${reserved[1]!.token}" no JSON`;
    await send("HSET", `${prefix}node:${worker.node}:claims`, `${worker.executor}.1`, spoilt);
    const settlements = [
      settle(reserved[0]!, { outcome: "retry", delaySeconds: 1, payload: reserved[0]!.raw }),
      settle(reserved[1]!, { outcome: "requeue" }),
    ];
    const reply = await cycle(store, worker, { settlements });
    expect(reply.blocked).toEqual([
      { settlement: settlements[1]!, reason: "its claim record names no channel" },
    ]);
    expect(await retries()).toHaveLength(1);
    await send("HDEL", `${prefix}node:${worker.node}:claims`, `${worker.executor}.1`);
    expect(await claims(worker.node)).toEqual([]);
  });

  test("leaves garbage where it is while it cannot be archived, and says why: a worker must not spin on it", async () => {
    const { store, push, channel } = harness;
    await spoil("discarded");
    await push("default", "garbage");
    const good = job();
    await store.publish([good]);
    const reply = await cycle(store, worker, { slots: 1 });
    expect(reply.broken).toMatchObject([
      {
        channel: "default",
        reason: expect.stringContaining("discarded must be a sorted set, it is a string"),
      },
    ]);
    expect(await channel("default")).toEqual(["garbage", good.payload]);
    await harness.send("DEL", `${harness.prefix}discarded`);
    expect(idsOf(await cycle(store, worker, { slots: 1 }))).toEqual([good.id]);
  });

  test("goes on where only counters are keys of the wrong type", async () => {
    const { store, claims } = harness;
    for (const key of ["metrics:processed", "metrics:failed"]) await spoil(key, "list");
    await spoil("attempts");
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    expect(reserved).toMatchObject([{ earlierAttempts: 0 }]);
    expect(
      await cycle(store, worker, { settlements: [settle(reserved[0]!, { outcome: "ack" })] }),
    ).toMatchObject({
      refused: [],
    });
    expect(await claims(worker.node)).toEqual([]);
  });

  test("calls a slot whose list is a key of the wrong type a stray, and reconciling says what is wrong", async () => {
    const { store } = harness;
    await store.publish([job()]);
    const key = `node:${worker.node}:claimed:${worker.executor}.0`;
    await spoil(key);
    expect(await cycle(store, worker, { slots: 1 })).toMatchObject({ hasStrays: true, reserved: [] });
    await expectRefusal(() => store.reconcile(worker, "g2", [], 1), key);
  });
});

describe("other calls", () => {
  let worker: Executor;
  beforeEach(async () => {
    worker = await aWorker(harness.store);
  });

  test.each(["generations", "claims"])(
    "reconciling is refused where %s is a key of the wrong type",
    async (name) => {
      await harness.store.publish([job()]);
      await cycle(harness.store, worker, { slots: 1 });
      await spoil(`node:${worker.node}:${name}`);
      await expectRefusal(() => harness.store.reconcile(worker, "g2", [], 1), "WRONGTYPE");
    },
  );

  test("reconciling leaves a payload whose channel cannot take it", async () => {
    const { store, claims } = harness;
    await store.publish([job({ id: "a" })]);
    await cycle(store, worker, { slots: 1 });
    await spoil("channel:default");
    expect(await store.reconcile(worker, "g2", [], 1)).toEqual({ isCurrent: true, missing: [], requeued: 0 });
    expect(await claims(worker.node)).toEqual(["a"]);
  });

  test("promotion of the one set goes on where the other is a key of the wrong type", async () => {
    const { store, put, send, prefix, channel } = harness;
    await spoil("planned");
    await put("retries", job().payload, 5);
    const reply = await store.promoteDue();
    expect(reply).toMatchObject({ planned: 0, retries: 1, nextInMs: undefined });
    expect(reply.problems).toEqual([expect.stringContaining("planned must be a sorted set, it is a string")]);
    await send("DEL", `${prefix}planned`);
    await spoil("retries");
    await put("planned", job().payload, 5);
    expect(await store.promoteDue()).toMatchObject({ planned: 1, retries: 0 });
    expect(await channel("default")).toHaveLength(2);
  });

  test("promotion puts off what its channel cannot take by a minute, and moves the others", async () => {
    const { store, put, planned, channel, nowMs } = harness;
    await spoil("channel:bad");
    const stuck = Array.from({ length: 120 }, () => job({ channel: "bad" }));
    for (const [i, each] of stuck.entries()) await put("planned", each.payload, 5 + i);
    const good = job({ channel: "good" });
    await put("planned", good.payload, 1_000_000);
    const first = await store.promoteDue();
    expect(first).toMatchObject({ planned: 0, nextInMs: 0 });
    expect(first.problems).toHaveLength(100);
    expect(first.problems[0]).toContain('channel "bad" cannot take it');
    expect(await store.promoteDue()).toMatchObject({ planned: 1 });
    expect(await channel("good")).toHaveLength(1);
    const now = await nowMs();
    const left = await planned();
    expect(left.map(({ payload }) => payload).toSorted()).toEqual(
      stuck.map(({ payload }) => payload).toSorted(),
    );
    for (const { atMs } of left) expect(Math.abs(atMs - now - 60_000)).toBeLessThan(5000);
  });

  test("promotion puts off garbage that cannot be archived", async () => {
    const { store, put, planned } = harness;
    await spoil("discarded");
    await put("planned", "garbage", 5);
    const reply = await store.promoteDue();
    expect(reply.planned).toBe(0);
    expect(reply.problems).toEqual([expect.stringContaining("discarded must be a sorted set")]);
    expect(await planned()).toHaveLength(1);
  });

  test.each([
    ["register", () => harness.store.register(nodeRecord("new~bun:1:000000000000"))],
    ["beat", () => harness.store.beat(worker.node, { busy: 0, isQuiet: false, isNewServer: false })],
    ["grant", () => harness.store.grant(worker)],
    ["sightNodes", () => harness.store.sightNodes()],
    ["recover", () => harness.store.recover({ identity: worker.node, judge: worker.node, isProven: true })],
    ["leave", () => harness.store.leave(worker.node)],
  ] as [string, () => Promise<unknown>][])(
    "%s is refused where the set of nodes is a key of the wrong type",
    async (_, call) => {
      await harness.store.publish([job()]);
      await cycle(harness.store, worker, { slots: 1 });
      await spoil("nodes");
      await expectRefusal(call, "WRONGTYPE");
    },
  );

  test("revoking is refused whole where the claims are a key of the wrong type", async () => {
    await spoil(`node:${worker.node}:claims`);
    await expectRefusal(
      () => harness.store.revoke(worker.node, worker.executor, { isCrash: true }),
      ":claims",
    );
  });

  test("one spoilt node does not hide the others, and is recovered by a steady judge", async () => {
    const { store, setBeat, channel, isNodeStored } = harness;
    const dead = await aWorker(store);
    await store.publish([job()]);
    await cycle(store, dead, { slots: 1 });
    await spoil(`node:${dead.node}`);
    const sighted = (await store.sightNodes()).nodes.map(({ identity }) => identity);
    expect(sighted.toSorted()).toEqual([worker.node, dead.node].toSorted());
    const request = { identity: dead.node, judge: worker.node, isProven: false };
    expect((await store.recover(request)).state).toBe("alive");
    await setBeat(worker.node, { steadySeconds: 60 });
    expect((await store.recover(request)).state).toBe("done");
    expect(await channel("default")).toHaveLength(1);
    expect(await isNodeStored(dead.node)).toBe(false);
  });

  test("recovery leaves what its channel cannot take, says stuck, and ends it once the channel can", async () => {
    const { store, send, prefix, channel, claims, isNodeStored } = harness;
    const dead = await aWorker(store);
    await store.publish([job({ channel: "bad" }), job({ channel: "good" })]);
    const channels = ["bad", "good"].map((name) => ({ channel: name, quota: 1 }));
    await cycle(store, dead, { slots: 2, channels });
    await spoil("channel:bad");
    const request = { identity: dead.node, judge: worker.node, isProven: true };
    expect(await store.recover(request)).toMatchObject({ state: "more", recovered: [{ channel: "good" }] });
    expect(await store.recover(request)).toMatchObject({ state: "stuck", recovered: [] });
    expect(await claims(dead.node)).toHaveLength(1);
    expect(await isNodeStored(dead.node)).toBe(true);
    await send("DEL", `${prefix}channel:bad`);
    expect(await store.recover(request)).toMatchObject({
      state: "done",
      recovered: [{ channel: "bad", crashes: 1 }],
    });
    expect(await channel("bad")).toHaveLength(1);
    expect(await isNodeStored(dead.node)).toBe(false);
  });

  test("recovery goes on where crash counts and channel names are keys of the wrong type", async () => {
    const { store, channel } = harness;
    const given = job();
    await store.publish([given]);
    await cycle(store, worker, { slots: 1 });
    await spoil(`crashes:${given.id}`, "list");
    await spoil("channels");
    const reply = await store.recover({ identity: worker.node, judge: worker.node, isProven: true });
    expect(reply).toMatchObject({ state: "done", recovered: [{ jobId: given.id, crashes: 0 }] });
    expect(await channel("default")).toHaveLength(1);
  });

  test("a waiter tells that its channel, or the set of paused ones, is a key of the wrong type", async () => {
    await spoil("channel:bad");
    const waiter = harness.store.waiter("bad");
    try {
      await expect(waiter.wait(1000)).rejects.toThrow(StoreError);
      await spoil("paused_channels");
      await expect(waiter.wait(1000)).rejects.toThrow(/WRONGTYPE/);
    } finally {
      waiter.close();
    }
  });

  test("signals, shown jobs and claimed bytes: a key of the wrong type is told, or holds nothing", async () => {
    const { store } = harness;
    await spoil(`node:${worker.node}:signals`);
    expect(await store.takeSignals(worker.node)).toEqual([]);
    await spoil(`node:${worker.node}:work`);
    await expectRefusal(() => store.showRunning(worker, []), "WRONGTYPE");
    await spoil(`node:${worker.node}:claims`);
    await expectRefusal(() => store.claimedBytes(worker, { slot: 0, token: "t" }), "WRONGTYPE");
  });
});
