import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RedisClient } from "bun";
import { Catalog } from "../../src/catalog/catalog.ts";
import type { CatalogEntry } from "../../src/catalog/entry.ts";
import { configure, processSettings, resetConfiguration } from "../../src/config/process.ts";
import { RedisCatalog } from "../../src/store/redis/catalog.ts";
import { RedisKeys } from "../../src/store/redis/keys.ts";
import { RedisStore } from "../../src/store/redis/store.ts";
import { RedisServer } from "../support/redis-server.ts";
import { ownEnvelope, rubyEnvelope } from "../support/stored.ts";

let server: RedisServer;
let client: RedisClient;
const catalogs: Catalog[] = [];
let prefixes = 0;

beforeAll(async () => {
  server = await RedisServer.start();
  client = await server.client();
});

afterAll(async () => {
  for (const catalog of catalogs) await catalog.close();
  client.close();
  await server.stop();
});

/** A catalog and its raw store on a prefix of its own. */
function open() {
  const prefix = `t${++prefixes}:`;
  const store = new RedisCatalog({ url: server.url, prefix });
  const catalog = new Catalog(undefined, store);
  catalogs.push(catalog);
  return { catalog, store, keys: new RedisKeys(prefix), prefix };
}

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

const idsOf = (entries: readonly CatalogEntry[]) => entries.map(({ id }) => id);

/** How many script calls the server has had. */
async function scriptCalls(): Promise<number> {
  const stats = String(await client.send("INFO", ["commandstats"]));
  const count = (name: string) => Number(new RegExp(`cmdstat_${name}:calls=(\\d+)`).exec(stats)?.[1] ?? 0);
  return count("evalsha") + count("eval");
}

describe("a catalog", () => {
  test("opens the store of this process, and works without any node", async () => {
    resetConfiguration();
    try {
      configure({ url: server.url, prefix: "process:" });
      const catalog = new Catalog();
      await client.send("LPUSH", ["process:channel:default", ownEnvelope("a")]);
      expect(idsOf(await all(catalog.jobs("default")))).toEqual(["a"]);
      expect(catalog.address).toBe(server.url);
      await catalog.close();
      const explicit = new Catalog({ ...processSettings(), prefix: "elsewhere:" });
      expect(await all(explicit.jobs("default"))).toEqual([]);
      await explicit.close();
    } finally {
      resetConfiguration();
    }
  });

  test("counts the jobs of all channels", async () => {
    const { catalog, keys } = open();
    for (const [name, size] of [
      ["a", 3],
      ["b", 0],
      ["c", 4],
    ] as const) {
      await client.send("SADD", [keys.channels, name]);
      for (let i = 0; i < size; i++)
        await client.send("LPUSH", [keys.channel(name), ownEnvelope(`${i}`, name)]);
    }
    await catalog.pause("b");
    const { ready, channels, planned } = await catalog.counters();
    expect({ ready, channels, planned }).toEqual({ ready: 7, channels: 3, planned: 0 });
  });

  test("shows envelopes decoded, and malformed ones with the reason", async () => {
    const { catalog, keys } = open();
    await client.send("LPUSH", [keys.channel("default"), "garbage", rubyEnvelope("r"), ownEnvelope("o")]);
    const [own, ruby, garbage] = await all(catalog.jobs("default"));
    expect(own?.envelope).toMatchObject({ id: "o", task: "Count", arguments: [1], channel: "default" });
    expect(ruby?.envelope).toMatchObject({ id: "r", maxFailures: 25 });
    expect(garbage?.envelope).toBeUndefined();
    expect(garbage?.problem).toContain("not JSON");
  });

  test("shows an envelope whose middle is broken as malformed", async () => {
    const { catalog, keys } = open();
    await client.send("LPUSH", [
      keys.channel("default"),
      ownEnvelope("o", "default", { argumentsJson: "[1,]" }),
    ]);
    const [entry] = await all(catalog.jobs("default"));
    expect(entry).toMatchObject({
      id: "o",
      envelope: undefined,
      problem: expect.stringContaining("not JSON"),
    });
  });

  test("ends an iteration with the signal's reason", async () => {
    const { catalog, keys } = open();
    for (let i = 0; i < 250; i++) await client.send("LPUSH", [keys.channel("default"), ownEnvelope(`${i}`)]);
    const abort = new AbortController();
    const seen: (string | undefined)[] = [];
    const iterate = async () => {
      for await (const { id } of catalog.jobs("default", { signal: abort.signal })) {
        seen.push(id);
        abort.abort(new Error("seen enough"));
      }
    };
    await expect(iterate()).rejects.toThrow("seen enough");
    expect(seen.length).toBe(100);
  });
});

describe("the sets", () => {
  test("are each iterated, searched and changed by the entries they gave", async () => {
    const { catalog, keys } = open();
    const sets = [
      [catalog.planned, keys.planned],
      [catalog.retrying, keys.retries],
      [catalog.discarded, keys.discarded],
    ] as const;
    for (const [set, key] of sets) {
      await client.send("ZADD", [key, "3", ownEnvelope("c"), "1", ownEnvelope("a"), "2", rubyEnvelope("b")]);
      expect(await set.size()).toBe(3);
      expect((await all(set.entries())).map(({ id, at }) => [id, at])).toEqual([
        ["a", 1],
        ["b", 2],
        ["c", 3],
      ]);
      expect(await set.locate("nowhere")).toBeUndefined();
      const found = await set.locate("b");
      expect(found?.envelope?.task).toBe("Count");
      expect(await set.remove(found!)).toBe(true);
      expect(await set.requeue(found!)).toBe("gone");
      expect(await set.requeue((await set.locate("c"))!)).toBe("requeued");
      expect(idsOf(await all(set.entries()))).toEqual(["a"]);
      expect(await set.purge()).toEqual({ removed: 1, isComplete: true });
      expect(await set.purge()).toEqual({ removed: 0, isComplete: true });
    }
    expect(idsOf(await all(catalog.jobs("default")))).toEqual(["c", "c", "c"]);
  });

  test("requeue jobs that a node then reserves, and keep the failures counted so far", async () => {
    const { catalog, keys, prefix } = open();
    const failed = ownEnvelope("job").replace(',"arguments"', ',"failure_count":26,"arguments"');
    await client.send("ZADD", [keys.discarded, "1", failed]);
    await catalog.discarded.requeueAll();
    const store = new RedisStore({
      url: server.url,
      prefix,
      allowEviction: true,
      discardedLimit: 10,
      discardedRetention: 1,
    });
    const node = {
      identity: "h~bun:1:0123456789ab",
      hostname: "h",
      pid: 1,
      startedAt: 1,
      channels: [],
      labels: [],
    };
    await store.register({ ...node, concurrency: 1, ttl: 15, bootId: "", pidNamespace: "", pidStarted: "" });
    const executor = { node: node.identity, executor: "w", generation: "g" };
    await store.grant(executor);
    const channels = [{ channel: "default", quota: 1 }];
    const { reserved } = await store.cycle({ executor, settlements: [], slots: [0], channels });
    expect(reserved[0]?.raw).toContain('"failure_count":26');
    expect((await all(catalog.claims())).map(({ holder, record }) => [holder, record?.jobId])).toEqual([
      ["w.0", "job"],
    ]);
    const location = await catalog.locate("job");
    expect(location?.place).toEqual({ state: "claimed", node: node.identity, holder: "w.0" });
    const running = { slot: 0, token: reserved[0]!.token, channel: "default", startedAtMs: 5000, attempt: 1 };
    await store.showRunning(executor, [{ ...running, envelopeJson: '{"id":"job","task":"Count"}' }]);
    expect(await all(catalog.executions())).toMatchObject([
      { node: node.identity, executor: "w.0", jobId: "job", task: "Count", startedAt: 5 },
    ]);
    expect((await all(catalog.nodes())).map(({ identity, isLive }) => [identity, isLive])).toEqual([
      [node.identity, true],
    ]);
    expect(await catalog.signal(node.identity, "TSTP")).toBe(true);
    expect(await store.takeSignals(node.identity)).toEqual(["TSTP"]);
    await store.close();
  });

  test("requeue large envelopes of other members too, and keep what no channel can take", async () => {
    const { catalog, keys } = open();
    const large = rubyEnvelope("large", "default", { arguments: ["z".repeat(200_000)] });
    await client.send("ZADD", [keys.retries, "1", "garbage", "2", large, "3", ownEnvelope("own")]);
    expect(await catalog.retrying.requeueAll()).toEqual({ requeued: 2, kept: 1, isComplete: true });
    expect(idsOf(await all(catalog.jobs("default"))).sort()).toEqual(["large", "own"]);
    expect(await client.send("ZRANGE", [keys.retries, "0", "-1"])).toEqual(["garbage"]);
  });
});

/** 100,000 members at increasing scores, made by the server. */
async function fill(key: string, kind: "list" | "zset"): Promise<void> {
  const push = kind === "list" ? "redis.call('LPUSH', KEYS[1], e)" : "redis.call('ZADD', KEYS[1], i, e)";
  const script = `for i = 1, 100000 do
    local e = '{"id":"job-' .. i .. '","channel":"default","_solid_jobs_publication":"-","queued_ms":1,"task":"T","max_failures":1,"created_ms":1,"arguments":[]}'
    ${push}
  end`;
  await client.send("EVAL", [script, "1", key]);
}

describe("a hundred thousand entries", () => {
  test("are requeued in steps of at most a hundred, which can be stopped and gone on with", async () => {
    const { catalog, keys } = open();
    await fill(keys.discarded, "zset");
    const abort = new AbortController();
    const steps: number[] = [];
    let before = 0;
    const onProgress = ({ done }: { done: number }) => {
      steps.push(done - before);
      before = done;
      if (done >= 20_000) abort.abort();
    };
    const stopped = await catalog.discarded.requeueAll({ signal: abort.signal, onProgress });
    expect(stopped).toEqual({ requeued: 20_000, kept: 0, isComplete: false });
    expect(Math.max(...steps)).toBeLessThanOrEqual(100);
    expect((await catalog.discarded.locate("job-20001"))?.at).toBe(20_001);
    const callsBefore = await scriptCalls();
    expect(await catalog.discarded.requeueAll()).toEqual({ requeued: 80_000, kept: 0, isComplete: true });
    expect((await scriptCalls()) - callsBefore).toBeGreaterThanOrEqual(800);
    expect(await client.send("LLEN", [keys.channel("default")])).toBe(100_000);
  });

  test("are purged by one short call", async () => {
    const { catalog, keys } = open();
    await fill(keys.channel("default"), "list");
    await fill(keys.planned, "zset");
    const commands = async () => String(await client.send("INFO", ["commandstats"]));
    const unlinks = (stats: string) => Number(/cmdstat_unlink:calls=(\d+)/.exec(stats)?.[1] ?? 0);
    const before = unlinks(await commands());
    expect(await catalog.purge("default")).toEqual({ removed: 100_000, isComplete: true });
    expect(await catalog.planned.purge()).toEqual({ removed: 100_000, isComplete: true });
    expect(unlinks(await commands()) - before).toBe(2);
    expect(await client.send("EXISTS", [keys.channel("default"), keys.planned])).toBe(0);
  });

  test("are purged in steps where attempts are counted", async () => {
    const { catalog, keys } = open();
    await fill(keys.retries, "zset");
    await client.send("HSET", [keys.attempts, "job-7", "1", "job-99999", "1", "other", "1"]);
    const steps: number[] = [];
    let before = 0;
    const onProgress = ({ done, total }: { done: number; total: number }) => {
      steps.push(done - before);
      before = done;
      expect(total).toBe(100_000);
    };
    expect(await catalog.retrying.purge({ onProgress })).toEqual({ removed: 100_000, isComplete: true });
    expect(Math.max(...steps)).toBeLessThanOrEqual(100);
    expect(await client.send("HKEYS", [keys.attempts])).toEqual(["other"]);
  });
});

describe("locating a job", () => {
  test("tells its state", async () => {
    const { catalog, keys } = open();
    await client.send("LPUSH", [keys.channel("a:b {c}"), ownEnvelope("ready", "a:b {c}")]);
    await client.send("ZADD", [keys.planned, "5", ownEnvelope("planned")]);
    await client.send("ZADD", [keys.retries, "6", rubyEnvelope("retrying")]);
    await client.send("ZADD", [keys.discarded, "7", ownEnvelope("discarded")]);
    await client.send("RPUSH", [keys.claimed("gone:1:aaaaaaaaaaaa", "w", 0), ownEnvelope("claimed")]);
    const holder = `${keys.node("ruby:1:bbbbbbbbbbbb")}:claimed:executor`;
    await client.send("RPUSH", [holder, rubyEnvelope("first"), rubyEnvelope("second")]);
    for (const state of ["ready", "planned", "retrying", "discarded", "claimed"] as const) {
      const location = await catalog.locate(state);
      expect(location?.place.state).toBe(state);
      expect(location?.entry.envelope?.id).toBe(state);
    }
    expect((await catalog.locate("second"))?.place).toEqual({
      state: "claimed",
      node: "ruby:1:bbbbbbbbbbbb",
      holder: "executor",
    });
    expect(await catalog.locate("nowhere")).toBeUndefined();
  });

  test("finds one whose id needs escapes in JSON", async () => {
    const { catalog, keys } = open();
    const id = 'we"ird\\id\n';
    await client.send("LPUSH", [keys.channel("default"), ownEnvelope(id), ownEnvelope("other")]);
    expect((await catalog.locate(id))?.entry.id).toBe(id);
  });

  test("passes over keys of the wrong type", async () => {
    const { catalog, keys } = open();
    await client.send("SET", [keys.planned, "text"]);
    await client.send("SET", [keys.channel("bad"), "text"]);
    await client.send("SET", [keys.nodes, "text"]);
    await client.send("ZADD", [keys.discarded, "7", ownEnvelope("job")]);
    expect((await catalog.locate("job"))?.place.state).toBe("discarded");
  });
});
