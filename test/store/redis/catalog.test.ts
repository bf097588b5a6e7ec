import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { RedisClient } from "bun";
import { StoreError, StoreUnavailable } from "../../../src/foundation/errors.ts";
import type { EntryPlace, Page, StoredEntry } from "../../../src/store/catalog-store.ts";
import { RedisCatalog } from "../../../src/store/redis/catalog.ts";
import { RedisKeys } from "../../../src/store/redis/keys.ts";
import { RedisServer } from "../../support/redis-server.ts";
import {
  listDigests,
  notUtf8,
  ownEnvelope,
  rubyEnvelope,
  sendBytes,
  setDigests,
  sha1,
} from "../../support/stored.ts";

let server: RedisServer;
let client: RedisClient;
const catalogs: RedisCatalog[] = [];
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

/** A catalog on a prefix of its own. */
function place(prefix = `t${++prefixes}:`) {
  const catalog = new RedisCatalog({ url: server.url, prefix });
  catalogs.push(catalog);
  return { catalog, keys: new RedisKeys(prefix) };
}

async function all<T>(read: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}

function entriesOf(catalog: RedisCatalog, where: EntryPlace, id?: string): Promise<StoredEntry[]> {
  return all((cursor) => catalog.entries(where, { cursor, ...(id === undefined ? {} : { id }) }));
}

describe("counters", () => {
  test("name the key that is of the wrong type", async () => {
    const { catalog, keys } = place();
    await client.send("SET", [keys.retries, "not a set"]);
    const error = await catalog.counters().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain(`${keys.retries} must be a zset, it is a string`);
  });
});

describe("channels", () => {
  test("of the wrong type are shown with the problem beside the others", async () => {
    const { catalog, keys } = place();
    await client.send("SADD", [keys.channels, "good", "bad"]);
    await client.send("SET", [keys.channel("bad"), "text"]);
    await client.send("LPUSH", [keys.channel("good"), ownEnvelope("1")]);
    const channels = await all((cursor) => catalog.channels(cursor));
    expect(channels.find(({ name }) => name === "good")?.size).toBe(1);
    expect(channels.find(({ name }) => name === "bad")?.problem).toContain("must be a list, it is a string");
    await expect(catalog.entries({ state: "ready", channel: "bad" })).rejects.toThrow(StoreError);
    await expect(catalog.purgeStep({ state: "ready", channel: "bad" })).rejects.toThrow(StoreError);
    expect(await client.send("GET", [keys.channel("bad")])).toBe("text");
  });

  test("name the key when the list of channels is of the wrong type", async () => {
    const { catalog, keys } = place();
    await client.send("SET", [keys.channels, "text"]);
    const error = await catalog.channels().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain(`"${keys.channels}" must be a set`);
    await client.send("SET", [keys.pausedChannels, "text"]);
    await expect(catalog.pause("x")).rejects.toThrow(`${keys.pausedChannels} must be a set`);
  });
});

describe("removing", () => {
  test("takes the entry meant among many of one time, and its attempts", async () => {
    const { catalog, keys } = place();
    const members = Array.from({ length: 350 }, (_, i) => [
      "7",
      ownEnvelope(`tie-${String(i).padStart(3, "0")}`),
    ]).flat();
    await client.send("ZADD", [keys.retries, ...members]);
    await client.send("HSET", [keys.attempts, "tie-222", "3", "tie-223", "3"]);
    const entry = (await entriesOf(catalog, { state: "retrying" }, "tie-222"))[0]!;
    // It has moved far from where it was read.
    await client.send("ZREMRANGEBYRANK", [keys.retries, "0", "199"]);
    expect(await catalog.remove("retrying", entry.locator)).toBe(true);
    expect(await catalog.remove("retrying", entry.locator)).toBe(false);
    const left = (await entriesOf(catalog, { state: "retrying" })).map(({ id }) => id);
    expect(left.length).toBe(149);
    expect(left).not.toContain("tie-222");
    expect(await client.send("HKEYS", [keys.attempts])).toEqual(["tie-223"]);
  });
});

describe("requeueing", () => {
  test("leaves every byte but those of queued_ms", async () => {
    const { catalog, keys } = place();
    const binary = notUtf8(
      '{"id":"b","task":"Count","arguments":["',
      '"],"channel":"default","max_failures":25,"failure_count":26}',
    );
    const own = notUtf8(
      ownEnvelope("own", "default", { argumentsJson: '["123' }).slice(0, -1),
      '",{"a":[]},12345678901234567890]}',
    );
    await sendBytes(client, "ZADD", keys.discarded, 1, binary, 2, own);
    const [first, second] = await entriesOf(catalog, { state: "discarded" });
    expect(await catalog.requeue("discarded", first!.locator)).toBe("requeued");
    expect(await catalog.requeue("discarded", second!.locator)).toBe("requeued");
    expect(await catalog.requeue("discarded", second!.locator)).toBe("gone");
    const digests = await listDigests(client, keys.channel("default"));
    expect(digests[1]).toBe(sha1(binary));
    const stored = (await client.send("LINDEX", [keys.channel("default"), "0"])) as string;
    const queuedMs = Number(/"queued_ms":(\d+)/.exec(stored)?.[1]);
    expect(Math.abs(queuedMs - Date.now())).toBeLessThan(60_000);
    const expected = Buffer.from(own)
      .toString("latin1")
      .replace('"queued_ms":1700000000000', `"queued_ms":${queuedMs}`);
    expect(digests[0]).toBe(sha1(Buffer.from(expected, "latin1")));
    expect(await client.send("ZCARD", [keys.discarded])).toBe(0);
    expect(await client.send("SMEMBERS", [keys.channels])).toEqual(["default"]);
  });

  test("moves a 10 MB envelope", async () => {
    const { catalog, keys } = place();
    const huge = ownEnvelope("huge", "c", { argumentsJson: `["${"y".repeat(10_000_000)}"]` });
    await client.send("ZADD", [keys.planned, "1", huge]);
    const entry = (await entriesOf(catalog, { state: "planned" }))[0]!;
    expect(await catalog.requeue("planned", entry.locator)).toBe("requeued");
    expect(await client.send("LLEN", [keys.channel("c")])).toBe(1);
    const size = await client.send("EVAL", [
      "return #redis.call('LINDEX', KEYS[1], 0)",
      "1",
      keys.channel("c"),
    ]);
    expect(size).toBe(Buffer.byteLength(huge));
  });

  test("moves an envelope of another member that is too large for the script to decode", async () => {
    const { catalog, keys } = place();
    const large = rubyEnvelope("large", "größe", { arguments: ["z".repeat(200_000)] });
    await client.send("ZADD", [keys.retries, "1", large]);
    expect(await catalog.requeueStep("retrying", { skip: 0, most: 100 })).toEqual({
      requeued: 0,
      kept: 1,
      remaining: 0,
    });
    const entry = (await entriesOf(catalog, { state: "retrying" }))[0]!;
    expect(await catalog.requeue("retrying", entry.locator)).toBe("requeued");
    expect(await listDigests(client, keys.channel("größe"))).toEqual([sha1(large)]);
  });

  test("keeps what names no channel, and what a channel of the wrong type cannot take", async () => {
    const { catalog, keys } = place();
    await client.send("SET", [keys.channel("blocked"), "text"]);
    const members = [
      "1",
      "garbage",
      "2",
      ownEnvelope("a", "blocked"),
      "3",
      ownEnvelope("b", "free"),
      "4",
      "[[[",
      "5",
      rubyEnvelope("c", "free"),
    ];
    await client.send("ZADD", [keys.discarded, ...members]);
    expect(await catalog.requeueStep("discarded", { skip: 0, most: 100 })).toEqual({
      requeued: 2,
      kept: 3,
      remaining: 0,
    });
    const entries = await entriesOf(catalog, { state: "discarded" });
    const results: string[] = [];
    for (const { locator } of entries) results.push(await catalog.requeue("discarded", locator));
    expect(results).toEqual(["unreadable", "blocked", "unreadable"]);
    expect(await setDigests(client, keys.discarded)).toEqual(
      ["garbage", ownEnvelope("a", "blocked"), "[[["].map(sha1),
    );
  });

  test("changes nothing when a key of its own is of the wrong type", async () => {
    const { catalog, keys } = place();
    await client.send("ZADD", [keys.planned, "1", ownEnvelope("a")]);
    const entry = (await entriesOf(catalog, { state: "planned" }))[0]!;
    await client.send("SET", [keys.channels, "text"]);
    await expect(catalog.requeue("planned", entry.locator)).rejects.toThrow(`${keys.channels} must be a set`);
    await client.send("DEL", [keys.channels]);
    await client.send("SET", [keys.attempts, "text"]);
    await expect(catalog.remove("planned", entry.locator)).rejects.toThrow(`${keys.attempts} must be a hash`);
    await expect(catalog.purgeStep({ state: "planned" })).rejects.toThrow(`${keys.attempts} must be a hash`);
    expect(await client.send("ZCARD", [keys.planned])).toBe(1);
    expect(await client.send("EXISTS", [keys.channel("default")])).toBe(0);
  });
});

test("purging takes the attempts of its jobs along, the oldest first, at most a hundred a call", async () => {
  const { catalog, keys } = place();
  for (let i = 0; i < 130; i++) {
    const make = i % 2 === 0 ? ownEnvelope : rubyEnvelope;
    await client.send("LPUSH", [keys.channel("default"), make(`job-${i}`)]);
    await client.send("HSET", [keys.attempts, `job-${i}`, "1"]);
  }
  await client.send("HSET", [keys.attempts, "elsewhere", "1"]);
  expect(await catalog.purgeStep({ state: "ready", channel: "default" })).toEqual({
    removed: 100,
    remaining: 30,
  });
  const left = await entriesOf(catalog, { state: "ready", channel: "default" });
  expect(left.at(-1)?.id).toBe("job-100");
  expect(await client.send("HLEN", [keys.attempts])).toBe(31);
  expect(await catalog.purgeStep({ state: "ready", channel: "default" })).toEqual({
    removed: 30,
    remaining: 0,
  });
  expect(await client.send("HKEYS", [keys.attempts])).toEqual(["elsewhere"]);
});

describe("nodes", () => {
  const info = { hostname: "h", pid: 7, started_at: 1.5, channels: ["a"], labels: ["l"], ttl: 15 };

  async function node(keys: RedisKeys, identity: string, fields: Record<string, string>): Promise<void> {
    await client.send("SADD", [keys.nodes, identity]);
    if (Object.keys(fields).length > 0)
      await client.send("HSET", [keys.node(identity), ...Object.entries(fields).flat()]);
  }

  test("show what they stored, and whether they live by the store's clock", async () => {
    const { catalog, keys } = place();
    const now = Date.now() / 1000;
    const good = {
      info: JSON.stringify(info),
      beat: String(now),
      busy: "2",
      quiet: "true",
      concurrency: "4",
    };
    await node(keys, "live", good);
    await node(keys, "silent", { ...good, beat: String(now - 100) });
    await node(keys, "ahead", { ...good, beat: String(now + 1000) });
    await node(keys, "declared", { ...good, dead: String(now) });
    await node(keys, "beatless", { info: JSON.stringify(info) });
    await node(keys, "gone", {});
    await node(keys, "garbled", { ...good, info: "{", beat: "soon" });
    await node(keys, "ruby", {
      ...good,
      info: JSON.stringify({ ...info, ttl: undefined }),
      beat: String(now - 100),
    });
    await client.send("EXPIRE", [keys.node("ruby"), "60"]);
    await client.send("SADD", [keys.nodes, "wrong"]);
    await client.send("SET", [keys.node("wrong"), "text"]);
    const nodes = new Map(
      (await all((cursor) => catalog.nodes(cursor))).map((view) => [view.identity, view]),
    );
    expect(nodes.get("live")).toEqual({
      identity: "live",
      hostname: "h",
      pid: 7,
      startedAt: 1.5,
      channels: ["a"],
      labels: ["l"],
      concurrency: 4,
      busy: 2,
      isQuiet: true,
      beatAgeSeconds: expect.any(Number),
      isLive: true,
      problem: undefined,
    });
    const live = [...nodes.values()].filter(({ isLive }) => isLive).map(({ identity }) => identity);
    expect(live.sort()).toEqual(["ahead", "live", "ruby"]);
    expect(nodes.get("ahead")?.beatAgeSeconds).toBe(0);
    expect(nodes.get("beatless")?.problem).toBe("its record has no beat");
    expect(nodes.get("beatless")?.beatAgeSeconds).toBeUndefined();
    expect(nodes.get("gone")?.problem).toContain("no record");
    expect(nodes.get("garbled")?.problem).toContain('its beat must be a number of seconds, it is "soon"');
    expect(nodes.get("wrong")?.problem).toContain("must be a hash, it is a string");
  });

  test("take a control request, which expires", async () => {
    const { catalog, keys } = place();
    await node(keys, "n", { beat: "1" });
    for (const signal of ["TSTP", "TTIN", "TERM"] as const)
      expect(await catalog.signal("n", signal)).toBe(true);
    expect(await client.send("RPOP", [keys.nodeSignals("n"), "10"])).toEqual(["TSTP", "TTIN", "TERM"]);
    await catalog.signal("n", "TERM");
    const ttl = Number(await client.send("TTL", [keys.nodeSignals("n")]));
    expect(ttl).toBeGreaterThan(0);
    expect(ttl).toBeLessThanOrEqual(60);
    expect(await catalog.signal("unknown", "TERM")).toBe(false);
    expect(await client.send("EXISTS", [keys.nodeSignals("unknown")])).toBe(0);
  });

  test("show what their workers run", async () => {
    const { catalog, keys } = place();
    const running = (id: string) =>
      `{"channel":"c","envelope":{"id":"${id}","task":"Count"},"started_at":5.5,"claim_token":"t","attempt":2}`;
    await client.send("HSET", [keys.nodeWork("n"), "w1.0", running("a"), "w1.1", "garbage"]);
    const executions = await all((cursor) => catalog.executions("n", cursor));
    expect(executions.find(({ executor }) => executor === "w1.0")).toEqual({
      node: "n",
      executor: "w1.0",
      jobId: "a",
      task: "Count",
      channel: "c",
      startedAt: 5.5,
      attempt: 2,
      problem: undefined,
    });
    expect(executions.find(({ executor }) => executor === "w1.1")?.problem).toContain("not a JSON object");
    expect(await all((cursor) => catalog.executions("other", cursor))).toEqual([]);
    await client.send("SET", [keys.nodeWork("bad"), "text"]);
    await expect(catalog.executions("bad")).rejects.toThrow(`"${keys.nodeWork("bad")}" must be a hash`);
  });
});

describe("claims", () => {
  const record = (id: string) =>
    `{"task_id":"${id}","claim_token":"t-${id}","node_id":"n","executor_id":"w","channel":"c","claimed_at":3.5,"attempt":2}`;

  test("show the claim and its payload, and what is missing of them", async () => {
    const { catalog, keys } = place();
    await client.send("HSET", [
      keys.nodeClaims("n"),
      "w.0",
      record("a"),
      "w.1",
      record("b"),
      "w.2",
      "garbage",
      "w.4",
      "{}",
    ]);
    await client.send("RPUSH", [keys.claimed("n", "w", 0), ownEnvelope("a")]);
    await client.send("RPUSH", [keys.claimed("n", "w", 2), rubyEnvelope("c")]);
    await client.send("RPUSH", [keys.claimed("n", "w", 3), "garbage"]);
    await client.send("SET", [keys.claimed("n", "w", 4), "text"]);
    const claims = new Map(
      (await all((cursor) => catalog.claims("n", cursor))).map((view) => [view.holder, view]),
    );
    expect([...claims.keys()].sort()).toEqual(["w.0", "w.1", "w.2", "w.4"]);
    expect(claims.get("w.0")?.record).toEqual({
      jobId: "a",
      token: "t-a",
      channel: "c",
      claimedAt: 3.5,
      attempt: 2,
    });
    expect(claims.get("w.0")?.entry?.id).toBe("a");
    expect(claims.get("w.1")).toMatchObject({ payloads: 0, entry: undefined });
    expect(claims.get("w.2")).toMatchObject({ record: undefined, problem: "the claim is not a JSON object" });
    expect(claims.get("w.2")?.entry?.id).toBe("c");
    expect(claims.get("w.4")?.problem).toContain("must be a list, it is a string");
    const unclaimed = await catalog.claim({ node: "n", holder: "w.3" });
    expect(unclaimed).toMatchObject({ record: undefined, problem: undefined, payloads: 1 });
    expect(unclaimed?.entry?.problem).toContain("not JSON");
    expect(await catalog.claim({ node: "n", holder: "w.9" })).toBeUndefined();
  });

  test("and channels that nobody lists are found by a survey, whatever the prefix", async () => {
    const { catalog, keys } = place("odd[*]?\\-^:");
    const decoy = new RedisKeys("oddx:");
    await client.send("LPUSH", [keys.channel("a:b"), "x"]);
    await client.send("LPUSH", [decoy.channel("decoy"), "x"]);
    await client.send("RPUSH", [keys.claimed("host~bun:1:0123456789ab", "w", 3), "x"]);
    await client.send("RPUSH", [`${keys.node("rubyhost:1:0123456789ab")}:claimed:executor`, "x"]);
    await client.send("HSET", [keys.nodeClaims("host~bun:1:0123456789ab"), "w.1", "{}"]);
    const found = { channels: [] as string[], nodes: [] as string[], holders: [] as string[] };
    let cursor: string | undefined;
    do {
      const survey = await catalog.survey(cursor);
      found.channels.push(...survey.channels);
      found.nodes.push(...survey.nodes);
      found.holders.push(...survey.holders.map(({ node, holder }) => `${node} ${holder}`));
      cursor = survey.cursor;
    } while (cursor !== undefined);
    expect(found.channels).toEqual(["a:b"]);
    expect(found.nodes).toEqual(["host~bun:1:0123456789ab"]);
    expect(found.holders.sort()).toEqual(["host~bun:1:0123456789ab w.3", "rubyhost:1:0123456789ab executor"]);
  });
});

describe("a user's own collection of ids", () => {
  const ids = Array.from({ length: 250 }, (_, i) => `id-${i}`);

  test("may be a set, a list, a sorted set or the fields of a hash", async () => {
    const { catalog, keys } = place();
    const key = (kind: string) => `${keys.prefix}mine:${kind}`;
    await client.send("SADD", [key("set"), ...ids]);
    await client.send("RPUSH", [key("list"), ...ids]);
    await client.send("ZADD", [key("zset"), ...ids.flatMap((id, i) => [String(i), id])]);
    await client.send("HSET", [key("hash"), ...ids.flatMap((id) => [id, "done"])]);
    for (const kind of ["set", "list", "zset", "hash"]) {
      const read = await all((cursor) => catalog.ids(key(kind), cursor));
      expect([...new Set(read)].sort()).toEqual([...ids].sort());
    }
    expect(await all((cursor) => catalog.ids(key("none"), cursor))).toEqual([]);
  });

  test("may not be a text", async () => {
    const { catalog, keys } = place();
    await client.send("SET", [`${keys.prefix}text`, "x"]);
    await expect(catalog.ids(`${keys.prefix}text`)).rejects.toThrow(
      /expected a set, list, sorted set or hash of ids/,
    );
  });
});

test("a server at its maxmemory can still be inspected and administered", async () => {
  const full = await RedisServer.start();
  const keys = new RedisKeys("m:");
  const catalog = new RedisCatalog({ url: full.url, prefix: "m:" });
  try {
    const members = Array.from({ length: 50 }, (_, i) => [String(i), ownEnvelope(`job-${i}`)]).flat();
    await full.send("ZADD", keys.discarded, ...members);
    await full.send("SADD", keys.nodes, "n");
    await full.send("CONFIG", "SET", "maxmemory", "1");
    await expect(full.send("LPUSH", "any", "thing")).rejects.toThrow(/OOM/);
    const entries = await entriesOf(catalog, { state: "discarded" });
    expect(entries.length).toBe(50);
    expect(await catalog.counters()).toMatchObject({ discarded: 50 });
    expect(await catalog.pause("default")).toBe(true);
    expect(await catalog.signal("n", "TERM")).toBe(true);
    expect(await catalog.remove("discarded", entries[0]!.locator)).toBe(true);
    expect(await catalog.requeue("discarded", entries[1]!.locator)).toBe("requeued");
    expect(await catalog.requeueStep("discarded", { skip: 0, most: 10 })).toMatchObject({ requeued: 10 });
    expect(await catalog.purgeStep({ state: "discarded" })).toEqual({ removed: 38, remaining: 0 });
    expect((await all((cursor) => catalog.channels(cursor)))[0]).toMatchObject({ size: 11, isPaused: true });
  } finally {
    await catalog.close();
    await full.stop();
  }
});

test("a server that is not there is told as unavailable", async () => {
  const gone = await RedisServer.start();
  const catalog = new RedisCatalog({ url: gone.url, prefix: "x:" });
  await gone.stop();
  await expect(catalog.counters()).rejects.toThrow(StoreUnavailable);
  await catalog.close();
  await catalog.close();
});
