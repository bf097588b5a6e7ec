import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { decodeEnvelope, reviseEnvelope } from "../../../src/envelope/codec.ts";
import { RedisServer } from "../../support/redis-server.ts";
import { aWorker, cycle, idsOf, job, jobs, settle } from "../conformance/harness.ts";
import rubyNode from "./fixtures/ruby-node.json";
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

const ruby = "web-1:4711:5f0c1b2a3d4e";
const charge = "8a6e0804-2bd0-4672-b79d-d97027f9071a";
const mail = "0e3f7c1e-9f5a-4a51-8c39-3b8b9e6a2d11";
const calm = { busy: 0, isQuiet: false, isNewServer: false };

/** Writes what the fixture says a Ruby member writes, under this test's prefix. */
async function writeRubyNode(): Promise<void> {
  for (const [command, key, ...args] of rubyNode)
    await harness.send(command!, `${harness.prefix}${key}`, ...args);
}

async function aSteadyJudge(): Promise<string> {
  const { node } = await aWorker(harness.store);
  await harness.setBeat(node, { steadySeconds: 60 });
  await harness.store.beat(node, calm);
  return node;
}

function fixturePayload(executor: string): string {
  return rubyNode.find(([command, key]) => command === "RPUSH" && key?.endsWith(executor))![2]!;
}

/** What the Ruby member does with a dead node, by the protocol's words and with nothing of ours. */
async function recoverAsRuby(node: string): Promise<void> {
  const { send, prefix } = harness;
  let cursor = "0";
  do {
    const [next, keys] = (await send("SCAN", cursor, "MATCH", `${prefix}node:*:claimed:*`)) as [
      string,
      string[],
    ];
    cursor = next;
    for (const list of keys.filter((key) => key.startsWith(`${prefix}node:${node}:claimed:`))) {
      for (let raw = await send("RPOP", list); raw !== null; raw = await send("RPOP", list)) {
        const { channel } = JSON.parse(String(raw)) as { channel: string };
        await send("RPUSH", `${prefix}channel:${channel}`, String(raw));
      }
      await send("DEL", list);
    }
  } while (cursor !== "0");
  await send("DEL", `${prefix}node:${node}:claims`);
}

describe("a dead Ruby node", () => {
  test("is recovered when its hash has expired; its jobs are reserved and acked like ours", async () => {
    const { store, send, prefix, channel, counters, isNodeStored } = harness;
    await writeRubyNode();
    await send("DEL", `${prefix}node:${ruby}`); // its own expiry
    const reply = await store.recover({ identity: ruby, judge: await aSteadyJudge(), isProven: false });
    expect(reply.state).toBe("done");
    expect(reply.recovered.toSorted((a, b) => a.channel.localeCompare(b.channel))).toEqual([
      { jobId: charge, channel: "critical", crashes: 1 },
      { jobId: mail, channel: "default", crashes: 1 },
    ]);
    expect(await channel("critical")).toEqual([fixturePayload("executor-0")]);
    expect(await channel("default")).toEqual([fixturePayload("executor-1")]);
    expect(await isNodeStored(ruby)).toBe(false);
    expect(await send("KEYS", `${prefix}node:${ruby}*`)).toEqual([]);

    const worker = await aWorker(store);
    const channels = ["critical", "default"].map((name) => ({ channel: name, quota: 5 }));
    const { reserved } = await cycle(store, worker, { slots: 2, channels });
    expect(reserved).toMatchObject([
      { channel: "critical", raw: fixturePayload("executor-0"), earlierAttempts: 3 },
      { channel: "default", raw: fixturePayload("executor-1"), earlierAttempts: 1 },
    ]);
    expect(decodeEnvelope(reserved[1]!.raw)).toMatchObject({
      arguments: [],
      failureCount: 2,
      maxFailures: 3,
    });
    const claims = await store.revoke(worker.node, worker.executor, { isCrash: false });
    const attempts = claims.toSorted((a, b) => a.slot - b.slot).map(({ attempt }) => attempt);
    expect(attempts).toEqual([4, 3]); // the greater of what Ruby counted and the failures, and this one
    const settlements = reserved.map((each) => settle(each, { outcome: "ack" }));
    expect((await cycle(store, worker, { settlements })).refused).toEqual([]);
    expect(await counters()).toEqual({ processed: 2, failed: 0 });
    expect(await send("EXISTS", `${prefix}attempts`)).toBe(0);
  });

  test("lives as long as its hash does, which expires without its beats", async () => {
    const { store, send, prefix } = harness;
    await writeRubyNode();
    await send("EXPIRE", `${prefix}node:${ruby}`, 60);
    const judge = await aSteadyJudge();
    expect((await store.recover({ identity: ruby, judge, isProven: false })).state).toBe("alive");
    expect(await send("LLEN", `${prefix}node:${ruby}:claimed:executor-0`)).toBe(1);
  });

  test("whose hash has no expiry is dead when its beat is older than 60 s", async () => {
    const { store, setBeat } = harness;
    await writeRubyNode();
    const judge = await aSteadyJudge();
    await setBeat(ruby, { secondsAgo: 55 });
    expect((await store.recover({ identity: ruby, judge, isProven: false })).state).toBe("alive");
    await setBeat(ruby, { secondsAgo: 61 });
    expect((await store.recover({ identity: ruby, judge, isProven: false })).state).toBe("done");
  });

  test("is sighted with its pid and no proof of death, and as an orphan once its name is gone", async () => {
    const { store, spoilNode } = harness;
    await writeRubyNode();
    expect((await store.sightNodes()).nodes).toEqual([{ identity: ruby, pid: 4711 }]);
    await spoilNode(ruby, "name");
    const orphans: string[] = [];
    let cursor: string | undefined;
    do {
      const page = await store.sightOrphans(cursor);
      orphans.push(...page.orphans.flatMap(({ identity, executors }) => [identity, ...executors]));
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect([...new Set(orphans)].toSorted()).toEqual([ruby, "executor-0", "executor-1"].toSorted());
  });

  test("with several payloads in one list: each goes to the channel its own envelope names", async () => {
    const { store, send, prefix, channel, crashes } = harness;
    await writeRubyNode();
    const list = `${prefix}node:${ruby}:claimed:executor-0`;
    const further =
      '{"task":"T","id":"further","arguments":[{"id":"inner","channel":"inner"}],"channel":"low"}';
    await send("LPUSH", list, further);
    await send("RPUSH", list, job({ id: "ours", channel: "ours" }).payload);
    await store.recover({ identity: ruby, judge: await aSteadyJudge(), isProven: true });
    expect(await channel("critical")).toEqual([fixturePayload("executor-0")]);
    expect(await channel("low")).toEqual([further]);
    expect(await channel("ours")).toHaveLength(1);
    expect(await channel("inner")).toEqual([]);
    expect([await crashes(charge), await crashes("further"), await crashes("ours")]).toEqual([1, 1, 1]);
  });

  test("with claims and no lists, or records that are no JSON, is removed without counting anything", async () => {
    const { store, send, prefix, isNodeStored } = harness;
    await send("SADD", `${prefix}nodes`, ruby);
    await send(
      "HSET",
      `${prefix}node:${ruby}:claims`,
      "executor-0",
      "no JSON",
      "executor-1",
      '{"task_id":"a"}',
    );
    const reply = await store.recover({ identity: ruby, judge: await aSteadyJudge(), isProven: false });
    expect(reply).toMatchObject({ state: "done", recovered: [] });
    expect(await isNodeStored(ruby)).toBe(false);
  });
});

describe("an envelope of a Ruby member", () => {
  const plain = `{"id":"r1","task":"Ruby::Task","arguments":[1,{"id":"inner","channel":"inner"}],"channel":"default","max_failures":25,"created_ms":5,"queued_ms":5}`;

  test("is reserved from the channel it was pushed to, as it is", async () => {
    const { store, push } = harness;
    await push("default", plain);
    const worker = await aWorker(store);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    expect(reserved).toMatchObject([{ raw: plain, earlierAttempts: 0 }]);
    expect((await store.revoke(worker.node, worker.executor, { isCrash: false }))[0]).toMatchObject({
      jobId: "r1",
    });
  });

  test("is not reserved while its publication is barred", async () => {
    const { store, push, send, prefix } = harness;
    const barred = plain.replace("}]", '}],"_solid_jobs_publication":"pub-1"').replace('"]"', "");
    await send("SET", `${prefix}publication:pub-1`, "1", "PX", 30_000);
    await push("default", barred);
    await push("default", plain.replace("r1", "r2"));
    const worker = await aWorker(store);
    expect(idsOf(await cycle(store, worker, { slots: 2 }))).toEqual(["r2"]);
    await send("DEL", `${prefix}publication:pub-1`);
    expect(idsOf(await cycle(store, worker, { slots: [1] }))).toEqual(["r1"]);
  });

  test("of 200 KB is reserved and barred like a small one, whatever stands in its arguments", async () => {
    const { store, push, send, prefix } = harness;
    await send("SET", `${prefix}publication:pub-1`, "1", "PX", 30_000);
    const text = JSON.stringify('{"_solid_jobs_publication":"pub-1"}');
    const large = `{"id":"big","task":"T","arguments":[${text},"${"x".repeat(200_000)}"],"channel":"default"}`;
    const barred = large.replace('"big"', '"barred"').replace(/}$/, ',"_solid_jobs_publication":"pub-1"}');
    await push("default", barred);
    await push("default", large);
    const worker = await aWorker(store);
    const reply = await cycle(store, worker, { slots: 2 });
    expect(idsOf(reply)).toEqual(["big"]);
  });

  test("clears its count of reservations when it ends, not when it is put back", async () => {
    const { store, push, send, prefix } = harness;
    await push("default", plain);
    await send("HSET", `${prefix}attempts`, "r1", 2, "other", 1);
    const worker = await aWorker(store);
    const first = await cycle(store, worker, { slots: 1 });
    expect(first.reserved[0]?.earlierAttempts).toBe(2);
    const requeue = settle(first.reserved[0]!, { outcome: "requeue" });
    const second = await cycle(store, worker, { settlements: [requeue], slots: 1 });
    expect(second.reserved[0]?.earlierAttempts).toBe(2);
    await cycle(store, worker, { settlements: [settle(second.reserved[0]!, { outcome: "drop" })] });
    expect(await send("HGETALL", `${prefix}attempts`)).toEqual({ other: "1" });
  });

  test.each([
    ["a small envelope", 0],
    ["one of 100 KB", 100_000],
  ])("counts are found and cleared for ids that JSON escapes, in %s", async (_size, bytes) => {
    const { store, push, send, prefix } = harness;
    const id = 'a/b "é\\';
    const { arguments: args, id: _id, ...rest } = JSON.parse(plain);
    await push("default", JSON.stringify({ id, ...rest, arguments: [...args, "x".repeat(bytes)] }));
    await send("HSET", `${prefix}attempts`, id, 4);
    const worker = await aWorker(store);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    expect(reserved[0]?.earlierAttempts).toBe(4);
    expect((await store.revoke(worker.node, worker.executor, { isCrash: true }))[0]?.jobId).toBe(id);
    expect(await harness.crashes(id)).toBe(1);
    await cycle(store, worker, { settlements: [settle(reserved[0]!, { outcome: "ack" })] });
    expect(await send("EXISTS", `${prefix}attempts`)).toBe(0);
  });

  test("keeps its unknown fields through retry, promotion, requeue and recovery", async () => {
    const { store, push, send, prefix, channel } = harness;
    const raw = plain.replace(
      '"channel":"default"',
      '"x": [ {"id" : 1e3} ],"channel":"default","_y":{"channel":"no"}',
    );
    await push("default", raw);
    const worker = await aWorker(store);
    const [reserved] = (await cycle(store, worker, { slots: 1 })).reserved;
    const payload = reviseEnvelope(reserved!.raw, { failure_count: 1 });
    await cycle(store, worker, {
      settlements: [settle(reserved!, { outcome: "retry", delaySeconds: 0, payload })],
    });
    await send("ZADD", `${prefix}retries`, 5, payload);
    expect(await store.promoteDue()).toMatchObject({ retries: 1 });
    const [again] = (await cycle(store, worker, { slots: 1 })).reserved;
    await cycle(store, worker, { settlements: [settle(again!, { outcome: "requeue" })], slots: 1 });
    await store.recover({ identity: worker.node, judge: worker.node, isProven: true });
    expect(await channel("default")).toEqual([payload]);
    expect(payload).toBe(raw.replace(/}$/, ',"failure_count":1}'));
  });
});

describe("what a killed Bun node leaves", () => {
  test("is recoverable by RPOP and RPUSH alone, as the Ruby member does it", async () => {
    const { store, channel } = harness;
    const worker = await aWorker(store);
    const second = { ...worker, executor: "w1" };
    await store.grant(second);
    const given = [...jobs(3), job({ channel: "c:{x} ü" })];
    await store.publish(given);
    const channels = ["default", "c:{x} ü"].map((name) => ({ channel: name, quota: 2 }));
    await cycle(store, worker, { slots: 2, channels });
    await cycle(store, second, { slots: 2, channels });
    expect(await channel("default")).toEqual([]);
    await recoverAsRuby(worker.node);
    expect((await channel("default")).toSorted()).toEqual(
      given
        .slice(0, 3)
        .map(({ payload }) => payload)
        .toSorted(),
    );
    expect(await channel("c:{x} ü")).toEqual([given[3]!.payload]);
  });

  test("lets the Bun node, if it lives after all, neither settle nor keep what was taken from it", async () => {
    const { store, channel, retries } = harness;
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    await recoverAsRuby(worker.node);
    const settlement = settle(reserved[0]!, { outcome: "retry", delaySeconds: 0, payload: reserved[0]!.raw });
    expect((await cycle(store, worker, { settlements: [settlement] })).refused).toEqual([settlement]);
    const known = [{ slot: 0, token: reserved[0]!.token }];
    expect(await store.reconcile(worker, "g2", known, 1)).toEqual({
      isCurrent: true,
      missing: known,
      requeued: 0,
    });
    expect(await channel("default")).toHaveLength(1);
    expect(await retries()).toEqual([]);
  });

  test("is written in the family's records", async () => {
    const { store, send, prefix } = harness;
    const worker = await aWorker(store, { node: "host~bun:4242:0123456789ab" });
    await store.publish([job({ id: "j1" })]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    await store.beat(worker.node, { busy: 1, isQuiet: true, isNewServer: false });
    await store.showRunning(worker, [
      { slot: 0, token: "t", channel: "default", envelopeJson: '{"id":"j1"}', startedAtMs: 1500, attempt: 1 },
    ]);
    const node = (await send("HGETALL", `${prefix}node:${worker.node}`)) as Record<string, string>;
    expect(node).toMatchObject({ busy: "1", quiet: "true", concurrency: "1" });
    expect(Math.abs(Number(node["beat"]) - Date.now() / 1000)).toBeLessThan(60);
    expect(JSON.parse(node["info"]!)).toEqual({
      hostname: "host",
      pid: 4242,
      started_at: 1_700_000_000,
      channels: ["default"],
      labels: [],
      identity: worker.node,
      ttl: 15,
      boot_id: "boot",
      pid_ns: "pid:[1]",
      pid_started: "77",
    });
    expect(await send("SMEMBERS", `${prefix}nodes`)).toEqual([worker.node]);
    const claims = (await send("HGETALL", `${prefix}node:${worker.node}:claims`)) as Record<string, string>;
    const claim = JSON.parse(claims["w0.0"]!) as Record<string, unknown>;
    expect(claim).toMatchObject({
      task_id: "j1",
      claim_token: reserved[0]!.token,
      node_id: worker.node,
      executor_id: "w0",
      channel: "default",
      attempt: 1,
    });
    expect(Math.abs(Number(claim["claimed_at"]) - Date.now() / 1000)).toBeLessThan(60);
    expect(await send("LRANGE", `${prefix}node:${worker.node}:claimed:w0.0`, 0, -1)).toHaveLength(1);
    const work = (await send("HGETALL", `${prefix}node:${worker.node}:work`)) as Record<string, string>;
    expect(JSON.parse(work["w0.0"]!)).toEqual({
      channel: "default",
      envelope: { id: "j1" },
      started_at: 1.5,
      claim_token: "t",
      attempt: 1,
    });
  });

  test("shows a worker's running jobs without touching those of another whose name begins alike", async () => {
    const { store, send, prefix } = harness;
    const one = await aWorker(store, { executor: "w1" });
    const ten = { ...one, executor: "w10" };
    const running = { slot: 0, token: "t", channel: "c", envelopeJson: "{}", startedAtMs: 0, attempt: 1 };
    await store.showRunning(one, [running, { ...running, slot: 1 }]);
    await store.showRunning(ten, [running]);
    await store.showRunning(one, []);
    expect(await send("HKEYS", `${prefix}node:${one.node}:work`)).toEqual(["w10.0"]);
  });
});
