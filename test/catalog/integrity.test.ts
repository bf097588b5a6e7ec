import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RedisClient } from "bun";
import { Catalog } from "../../src/catalog/catalog.ts";
import { integrityCheck } from "../../src/catalog/integrity.ts";
import { configure, resetConfiguration } from "../../src/config/process.ts";
import { StoreError, StoreUnavailable } from "../../src/foundation/errors.ts";
import type { CatalogStore, EntryPlace } from "../../src/store/catalog-store.ts";
import { RedisCatalog } from "../../src/store/redis/catalog.ts";
import { RedisKeys } from "../../src/store/redis/keys.ts";
import { RedisServer } from "../support/redis-server.ts";
import { notUtf8, ownEnvelope, rubyEnvelope, sendBytes } from "../support/stored.ts";

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

const live = "host~bun:1:aaaaaaaaaaaa";

/** A store with one live node, and a check of it, on a prefix of their own. */
async function open(change: (store: CatalogStore, keys: RedisKeys) => CatalogStore = (store) => store) {
  const prefix = `t${++prefixes}:`;
  const keys = new RedisKeys(prefix);
  const catalog = new Catalog(undefined, change(new RedisCatalog({ url: server.url, prefix }), keys));
  catalogs.push(catalog);
  await client.send("SADD", [keys.nodes, live]);
  const info = JSON.stringify({ hostname: "host", pid: 1, ttl: 3600 });
  await client.send("HSET", [keys.node(live), "info", info, "beat", String(Date.now() / 1000)]);
  return { catalog, keys };
}

async function claim(keys: RedisKeys, node: string, slot: number, id: string): Promise<void> {
  const record = { task_id: id, claim_token: `t-${id}`, node_id: node, executor_id: "w", channel: "default" };
  await client.send("HSET", [keys.nodeClaims(node), `w.${slot}`, JSON.stringify(record)]);
  await client.send("RPUSH", [keys.claimed(node, "w", slot), ownEnvelope(id)]);
}

describe("the integrity check", () => {
  test("finds nothing wrong in an empty store", async () => {
    const { catalog } = await open();
    expect(await catalog.integrityCheck()).toEqual({
      states: new Map(),
      counts: { ready: 0, planned: 0, retrying: 0, discarded: 0, claimed: 0, acked: 0, lost: 0 },
      lost: [],
      orphaned: [],
      invalidClaims: [],
      danglingAttempts: [],
      duplicates: [],
      malformed: [],
      broken: [],
      isSound: true,
    });
  });

  test("gives the state of every id", async () => {
    const { catalog, keys } = await open();
    await client.send("LPUSH", [keys.channel("größe:{1} 2"), ownEnvelope("ready", "größe:{1} 2")]);
    await client.send("ZADD", [keys.planned, "1", ownEnvelope("planned")]);
    await client.send("ZADD", [keys.retries, "1", rubyEnvelope("retrying")]);
    await client.send("ZADD", [keys.discarded, "1", ownEnvelope("discarded")]);
    await claim(keys, live, 0, "claimed");
    const states = ["ready", "planned", "retrying", "discarded", "claimed", "acked", "lost"] as const;
    const report = await catalog.integrityCheck({
      expectedIds: states,
      ackedIds: ["acked", "acked unasked"],
    });
    expect(Object.fromEntries(report.states)).toEqual({
      ...Object.fromEntries(states.map((state) => [state, state])),
      "acked unasked": "acked",
    });
    expect(report.counts).toEqual({
      ready: 1,
      planned: 1,
      retrying: 1,
      discarded: 1,
      claimed: 1,
      acked: 2,
      lost: 1,
    });
    expect(report.lost).toEqual(["lost"]);
    expect(report.isSound).toBe(false);
    const { lost, isSound, states: _states, counts, ...faults } = report;
    expect(Object.values(faults).flat()).toEqual([]);
  });

  test.each(["set", "list", "zset", "hash"])("reads the done ids from a %s in the store", async (kind) => {
    const { catalog, keys } = await open();
    const key = `${keys.prefix}done`;
    const ids = Array.from({ length: 300 }, (_, i) => `job-${i}`);
    const command = { set: "SADD", list: "RPUSH", zset: "ZADD", hash: "HSET" }[kind]!;
    const args = ids.flatMap((id) => (kind === "zset" ? ["1", id] : kind === "hash" ? [id, "1"] : [id]));
    await client.send(command, [key, ...args]);
    async function* expectedIds() {
      yield* ids;
      yield "missing";
    }
    const report = await catalog.integrityCheck({ expectedIds: expectedIds(), ackedKey: key });
    expect(report.counts.acked).toBe(300);
    expect(report.lost).toEqual(["missing"]);
  });

  test("refuses a key of done ids that holds none", async () => {
    const { catalog, keys } = await open();
    await client.send("SET", [`${keys.prefix}done`, "text"]);
    await expect(catalog.integrityCheck({ ackedKey: `${keys.prefix}done` })).rejects.toThrow(StoreError);
  });

  test("reports jobs in more than one place, and both of them", async () => {
    const { catalog, keys } = await open();
    await client.send("LPUSH", [
      keys.channel("a"),
      ownEnvelope("twice", "a"),
      ownEnvelope("twice", "a"),
      ownEnvelope("once", "a"),
    ]);
    await client.send("LPUSH", [keys.channel("a"), ownEnvelope("spread", "a")]);
    await client.send("ZADD", [keys.retries, "1", rubyEnvelope("spread")]);
    await claim(keys, live, 0, "spread");
    const { duplicates, isSound } = await catalog.integrityCheck();
    const byId = new Map(duplicates.map(({ id, places }) => [id, places.map(({ state }) => state)]));
    expect(Object.fromEntries(byId)).toEqual({
      twice: ["ready", "ready"],
      spread: ["retrying", "ready", "claimed"],
    });
    expect(isSound).toBe(false);
  });

  test("reports every malformed entry with its place", async () => {
    const { catalog, keys } = await open();
    await client.send("LPUSH", [keys.channel("c"), "garbage", rubyEnvelope("x", "c", { arguments: "text" })]);
    await client.send("ZADD", [keys.planned, "1", "{}"]);
    await sendBytes(client, "ZADD", keys.discarded, 1, notUtf8("", ""));
    await client.send("RPUSH", [keys.claimed(live, "w", 0), "[]"]);
    await client.send("LPUSH", [keys.channel("big"), "x".repeat(10_000_000)]);
    const { malformed } = await catalog.integrityCheck();
    const told = malformed.map(
      ({ place, id, problem }) => `${place.state} ${id ?? "-"} ${problem.slice(0, 12)}`,
    );
    expect(told.sort()).toEqual(
      [
        'planned - "id" must be',
        "claimed - expected a J",
        "discarded - not JSON: JS",
        "ready - cannot be re",
        "ready - not JSON: JS",
        'ready x "arguments" ',
      ].sort(),
    );
  });

  test("reads a 10 MB envelope for what it is", async () => {
    const { catalog, keys } = await open();
    const huge = "x".repeat(10_000_000);
    await client.send("LPUSH", [
      keys.channel("big"),
      ownEnvelope("own", "big", { argumentsJson: `["${huge}"]` }),
    ]);
    await client.send("LPUSH", [keys.channel("big"), rubyEnvelope("ruby", "big", { arguments: [huge] })]);
    const report = await catalog.integrityCheck({ expectedIds: ["own", "ruby"] });
    expect(report.isSound).toBe(true);
    expect(report.counts.ready).toBe(2);
  });

  test("finds jobs in channels and claims that nothing lists", async () => {
    const { catalog, keys } = await open();
    await client.send("LPUSH", [keys.channel("unlisted"), ownEnvelope("a", "unlisted")]);
    await client.send("RPUSH", [
      `${keys.node("ruby:1:bbbbbbbbbbbb")}:claimed:executor`,
      rubyEnvelope("b"),
      rubyEnvelope("c"),
    ]);
    const report = await catalog.integrityCheck({ expectedIds: ["a", "b", "c"] });
    expect(Object.fromEntries(report.states)).toEqual({ a: "ready", b: "claimed", c: "claimed" });
    expect(report.lost).toEqual([]);
  });

  test("reports payloads that no live node holds", async () => {
    const { catalog, keys } = await open();
    await claim(keys, live, 0, "held");
    await claim(keys, "gone:1:bbbbbbbbbbbb", 0, "orphan");
    await claim(keys, "beatless:1:cccccccccccc", 3, "beatless");
    await client.send("SADD", [keys.nodes, "beatless:1:cccccccccccc"]);
    await client.send("HSET", [keys.node("beatless:1:cccccccccccc"), "info", "{}"]);
    const { orphaned, invalidClaims, states } = await catalog.integrityCheck();
    expect(orphaned.map(({ node, holder, jobId }) => `${node} ${holder} ${jobId}`).sort()).toEqual([
      "beatless:1:cccccccccccc w.3 beatless",
      "gone:1:bbbbbbbbbbbb w.0 orphan",
    ]);
    expect(invalidClaims).toEqual([]);
    expect(states.get("orphan")).toBe("claimed");
  });

  test("reports each kind of invalid claim", async () => {
    const { catalog, keys } = await open();
    const claims = keys.nodeClaims(live);
    await claim(keys, live, 0, "good");
    await client.send("HSET", [claims, "w.1", '{"task_id":"empty","claim_token":"t"}']);
    await client.send("RPUSH", [keys.claimed(live, "w", 2), ownEnvelope("unclaimed")]);
    await client.send("HSET", [claims, "w.3", '{"task_id":"tokenless"}']);
    await client.send("RPUSH", [keys.claimed(live, "w", 3), ownEnvelope("tokenless")]);
    await client.send("HSET", [claims, "w.4", "garbage"]);
    await client.send("RPUSH", [keys.claimed(live, "w", 4), ownEnvelope("unreadable")]);
    await client.send("HSET", [claims, "w.5", '{"task_id":"one","claim_token":"t"}']);
    await client.send("RPUSH", [keys.claimed(live, "w", 5), ownEnvelope("another")]);
    const { invalidClaims, orphaned } = await catalog.integrityCheck();
    expect(Object.fromEntries(invalidClaims.map(({ holder, fault }) => [holder, fault]))).toEqual({
      "w.1": "claim without an envelope",
      "w.2": "envelope without a claim",
      "w.3": "claim without a token",
      "w.4": "claim that cannot be read",
      "w.5": "claim of another job",
    });
    expect(orphaned).toEqual([]);
  });

  test("reports attempts of jobs that are nowhere", async () => {
    const { catalog, keys } = await open();
    await client.send("LPUSH", [keys.channel("a"), rubyEnvelope("stored", "a")]);
    await client.send("HSET", [keys.attempts, "stored", "2", "done", "1", "unknown", "1"]);
    const { danglingAttempts, states } = await catalog.integrityCheck({ ackedIds: ["done"] });
    expect([...danglingAttempts].sort()).toEqual(["done", "unknown"]);
    expect(Object.fromEntries(states)).toEqual({ stored: "ready", done: "acked" });
  });

  test("names places it cannot read, and reads the others", async () => {
    const { catalog, keys } = await open();
    await client.send("DEL", [keys.nodes]);
    for (const key of [keys.planned, keys.channel("bad"), keys.attempts, keys.channels, keys.nodes]) {
      await client.send("SET", [key, "text"]);
    }
    await client.send("SET", [keys.claimed("n", "w", 1), "text"]);
    await client.send("SET", [keys.nodeClaims("m"), "text"]);
    await client.send("ZADD", [keys.discarded, "1", ownEnvelope("job")]);
    const { broken, states, invalidClaims } = await catalog.integrityCheck({ expectedIds: ["job"] });
    expect(states.get("job")).toBe("discarded");
    expect(broken.map(({ place }) => place).sort()).toEqual([
      'channel "bad"',
      "planned",
      "the attempts",
      "the claims of m",
      "the list of channels",
      "the list of nodes",
    ]);
    expect(broken.every(({ reason }) => reason.includes("must be a"))).toBe(true);
    expect(invalidClaims).toMatchObject([{ node: "n", holder: "w.1", fault: "claim without an envelope" }]);
  });

  test("accounts for twenty thousand jobs in pages", async () => {
    const { catalog, keys } = await open();
    const ids = Array.from({ length: 20_000 }, (_, i) => `job-${i}`);
    for (let i = 0; i < ids.length; i += 1000) {
      const envelopes = ids.slice(i, i + 1000).map((id) => ownEnvelope(id));
      if (i < 10_000) await client.send("LPUSH", [keys.channel("default"), ...envelopes]);
      else await client.send("ZADD", [keys.planned, ...envelopes.flatMap((envelope) => ["5", envelope])]);
    }
    const report = await catalog.integrityCheck({ expectedIds: ids });
    expect(report.counts).toMatchObject({ ready: 10_000, planned: 10_000, lost: 0 });
    expect(report.isSound).toBe(true);
  });

  test("ends with the signal's reason", async () => {
    const { catalog } = await open();
    const signal = AbortSignal.abort(new Error("enough"));
    await expect(catalog.integrityCheck({ signal })).rejects.toThrow("enough");
  });

  test("fails when the store goes away", async () => {
    const gone = await RedisServer.start();
    const catalog = new Catalog(undefined, new RedisCatalog({ url: gone.url, prefix: "x:" }));
    await gone.stop();
    await expect(catalog.integrityCheck()).rejects.toThrow(StoreUnavailable);
    await catalog.close();
  });

  test("opens and closes the store of this process by itself", async () => {
    resetConfiguration();
    try {
      configure({ url: server.url, prefix: "own:" });
      await client.send("LPUSH", ["own:channel:default", ownEnvelope("a")]);
      const report = await integrityCheck({ expectedIds: ["a", "b"] });
      expect(Object.fromEntries(report.states)).toEqual({ a: "ready", b: "lost" });
    } finally {
      resetConfiguration();
    }
  });
});

/** Calls `act` once, just before the first reading of a place in this state. */
function before(store: CatalogStore, state: EntryPlace["state"], act: () => Promise<unknown>): CatalogStore {
  let isDone = false;
  const entries: CatalogStore["entries"] = async (place, options) => {
    if (place.state === state && !isDone) {
      isDone = true;
      await act();
    }
    return store.entries(place, options);
  };
  return new Proxy(store, {
    get(target, name) {
      if (name === "entries") return entries;
      const value: unknown = Reflect.get(target, name);
      return typeof value === "function" ? value.bind(target) : value;
    },
  });
}

describe("jobs that move while the integrity check reads", () => {
  test("are not lost when they move behind its back", async () => {
    const { catalog, keys } = await open((store, k) =>
      before(store, "ready", async () => {
        await client.send("LPOP", [k.channel("default")]);
        await client.send("ZADD", [k.retries, "1", ownEnvelope("mover")]);
      }),
    );
    await client.send("LPUSH", [keys.channel("default"), ownEnvelope("other"), ownEnvelope("mover")]);
    const report = await catalog.integrityCheck({ expectedIds: ["mover", "other"] });
    expect(Object.fromEntries(report.states)).toEqual({ mover: "retrying", other: "ready" });
    expect(report.isSound).toBe(true);
  });

  test("are not double when they are met twice", async () => {
    const { catalog, keys } = await open((store, k) =>
      before(store, "ready", async () => {
        await client.send("DEL", [k.planned]);
        await client.send("LPUSH", [k.channel("default"), ownEnvelope("mover")]);
      }),
    );
    await client.send("ZADD", [keys.planned, "1", ownEnvelope("mover")]);
    await client.send("LPUSH", [keys.channel("default"), ownEnvelope("other")]);
    const report = await catalog.integrityCheck({ expectedIds: ["mover"] });
    expect(report.states.get("mover")).toBe("ready");
    expect(report.isSound).toBe(true);
  });

  test("are acked, not lost, when they are done meanwhile", async () => {
    const { catalog, keys } = await open((store, k) =>
      before(store, "discarded", async () => {
        await client.send("DEL", [k.channel("default")]);
        await client.send("SADD", [`${k.prefix}done`, "early", "late"]);
      }),
    );
    await client.send("LPUSH", [keys.channel("default"), ownEnvelope("early")]);
    const report = await catalog.integrityCheck({
      expectedIds: ["early", "late"],
      ackedKey: `${keys.prefix}done`,
    });
    expect(Object.fromEntries(report.states)).toEqual({ early: "acked", late: "acked" });
    expect(report.isSound).toBe(true);
  });

  test("are stored when they are both done and stored, which a second run is", async () => {
    const { catalog, keys } = await open();
    await client.send("ZADD", [keys.retries, "1", ownEnvelope("again")]);
    const report = await catalog.integrityCheck({ expectedIds: ["again"], ackedIds: ["again"] });
    expect(report.states.get("again")).toBe("retrying");
    expect(report.counts).toMatchObject({ retrying: 1, acked: 0 });
  });

  test("are lost when they are met twice and then nowhere", async () => {
    const { catalog, keys } = await open((store, k) =>
      before(store, "discarded", async () => {
        await client.send("DEL", [k.planned, k.channel("default")]);
      }),
    );
    await client.send("ZADD", [keys.planned, "1", ownEnvelope("mover")]);
    await client.send("LPUSH", [keys.channel("default"), ownEnvelope("mover")]);
    const { lost, duplicates } = await catalog.integrityCheck({ expectedIds: ["mover"] });
    expect(lost).toEqual(["mover"]);
    expect(duplicates).toEqual([]);
  });

  test("and claims that were settled meanwhile are not invalid", async () => {
    const { catalog, keys } = await open((store, k) =>
      before(store, "discarded", async () => {
        await client.send("DEL", [
          k.nodeClaims(live),
          k.claimed(live, "w", 0),
          k.claimed("gone:1:bbbbbbbbbbbb", "w", 0),
        ]);
      }),
    );
    await client.send("HSET", [keys.nodeClaims(live), "w.1", '{"task_id":"a","claim_token":"t"}']);
    await client.send("RPUSH", [keys.claimed(live, "w", 0), ownEnvelope("b")]);
    await client.send("RPUSH", [keys.claimed("gone:1:bbbbbbbbbbbb", "w", 0), ownEnvelope("c")]);
    const { invalidClaims, orphaned } = await catalog.integrityCheck();
    expect(invalidClaims).toEqual([]);
    expect(orphaned).toEqual([]);
  });
});
