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

const oddNames = ["a:b", "{tag}", "with space", "größe-ジョブ-🚀", 'quo"te', "back\\slash", "*?[x]"];

describe("counters", () => {
  test("count what was done and what is where", async () => {
    const { catalog, keys } = place();
    await client.send("SET", [keys.processed, "12"]);
    await client.send("SET", [keys.failed, "3"]);
    await client.send("ZADD", [keys.planned, "1", "a", "2", "b"]);
    await client.send("ZADD", [keys.retries, "1", "c"]);
    await client.send("SADD", [keys.channels, "x", "y"]);
    await client.send("SADD", [keys.nodes, "n"]);
    expect(await catalog.counters()).toEqual({
      processed: 12,
      failed: 3,
      planned: 2,
      retrying: 1,
      discarded: 0,
      channels: 2,
      nodes: 1,
    });
  });

  test("are zero in an empty store", async () => {
    const { catalog } = place();
    expect(Object.values(await catalog.counters())).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  test("name the key that is of the wrong type", async () => {
    const { catalog, keys } = place();
    await client.send("SET", [keys.retries, "not a set"]);
    const error = await catalog.counters().catch((thrown) => thrown);
    expect(error).toBeInstanceOf(StoreError);
    expect(error.message).toContain(`${keys.retries} must be a zset, it is a string`);
  });
});

describe("channels", () => {
  test("keep odd names whatever is done with them", async () => {
    const { catalog, keys } = place();
    for (const name of oddNames) {
      await client.send("SADD", [keys.channels, name]);
      await client.send("LPUSH", [keys.channel(name), ownEnvelope("1", name), ownEnvelope("2", name)]);
      expect(await catalog.pause(name)).toBe(true);
      expect(await catalog.pause(name)).toBe(false);
    }
    const channels = await all((cursor) => catalog.channels(cursor));
    expect(channels.map(({ name }) => name).sort()).toEqual([...oddNames].sort());
    expect(channels.every(({ size, isPaused, problem }) => size === 2 && isPaused && !problem)).toBe(true);
    for (const name of oddNames) {
      expect(await catalog.resume(name)).toBe(true);
      const entries = await entriesOf(catalog, { state: "ready", channel: name });
      expect(entries.map(({ id, channel }) => [id, channel])).toEqual([
        ["2", name],
        ["1", name],
      ]);
      expect(await catalog.purgeStep({ state: "ready", channel: name })).toEqual({
        removed: 2,
        remaining: 0,
      });
    }
    expect(
      await client.send(
        "EXISTS",
        oddNames.map((name) => keys.channel(name)),
      ),
    ).toBe(0);
  });

  test("tell how long the next job has waited, by the store's clock", async () => {
    const { catalog, keys } = place();
    const tenSecondsAgo = Date.now() - 10_000;
    const minuteAgo = Date.now() - 60_000;
    await client.send("SADD", [keys.channels, "own", "ruby", "future", "garbage"]);
    await client.send("RPUSH", [
      keys.channel("own"),
      ownEnvelope("new"),
      ownEnvelope("1", "own", { nowMs: tenSecondsAgo }),
    ]);
    await client.send("RPUSH", [keys.channel("ruby"), rubyEnvelope("2", "ruby", { queued_ms: minuteAgo })]);
    await client.send("RPUSH", [
      keys.channel("future"),
      ownEnvelope("3", "future", { nowMs: Date.now() + 1e9 }),
    ]);
    await client.send("RPUSH", [keys.channel("garbage"), "\u0000{"]);
    const channels = await all((cursor) => catalog.channels(cursor));
    const waiting = Object.fromEntries(channels.map((channel) => [channel.name, channel.waitingSeconds]));
    expect(waiting.own).toBeGreaterThanOrEqual(10);
    expect(waiting.own).toBeLessThan(60);
    expect(waiting.ruby).toBeGreaterThanOrEqual(60);
    expect(waiting.future).toBe(0);
    expect(waiting.garbage).toBe(0);
  });

  test("are listed when they are only paused", async () => {
    const { catalog, keys } = place();
    await client.send("SADD", [keys.channels, "known"]);
    await catalog.pause("known");
    await catalog.pause("not yet");
    const channels = await all((cursor) => catalog.channels(cursor));
    expect(channels.map(({ name }) => name).sort()).toEqual(["known", "not yet"]);
  });

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

  test("are all listed when their next jobs are too large for one call", async () => {
    const { catalog, keys } = place();
    const large = `["${"x".repeat(400_000)}"]`;
    for (let i = 0; i < 12; i++) {
      await client.send("SADD", [keys.channels, `c${i}`]);
      await client.send("LPUSH", [
        keys.channel(`c${i}`),
        ownEnvelope("1", `c${i}`, { argumentsJson: large }),
      ]);
    }
    expect((await all((cursor) => catalog.channels(cursor))).length).toBe(12);
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

describe("reading a channel", () => {
  test("meets every entry once while newer ones come in and older ones are taken", async () => {
    const { catalog, keys } = place();
    const key = keys.channel("default");
    for (let i = 0; i < 450; i++) await client.send("LPUSH", [key, ownEnvelope(`job-${i}`)]);
    const ids: (string | undefined)[] = [];
    let cursor: string | undefined;
    let published = 0;
    do {
      const page = await catalog.entries({ state: "ready", channel: "default" }, { cursor });
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
      for (let i = 0; i < 7; i++) await client.send("LPUSH", [key, ownEnvelope(`late-${published++}`)]);
      await client.send("RPOP", [key, "3"]);
    } while (cursor !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
    // Those that were taken meanwhile stood at the far end.
    expect(ids.slice(0, 430)).toEqual(Array.from({ length: 430 }, (_, i) => `job-${449 - i}`));
  });

  test("does not swallow a true double on the border of two pages", async () => {
    const { catalog, keys } = place();
    const envelopes = Array.from({ length: 150 }, (_, i) => ownEnvelope(i === 100 ? "job-99" : `job-${i}`));
    await client.send("RPUSH", [keys.channel("default"), ...envelopes]);
    const entries = await entriesOf(catalog, { state: "ready", channel: "default" });
    expect(entries.length).toBe(150);
    expect(entries.filter(({ id }) => id === "job-99").length).toBe(2);
  });

  test("bounds a page by bytes, but always shows one entry", async () => {
    const { catalog, keys } = place();
    const half = `["${"x".repeat(600_000)}"]`;
    for (const id of ["1", "2", "3"]) {
      await client.send("LPUSH", [
        keys.channel("default"),
        ownEnvelope(id, "default", { argumentsJson: half }),
      ]);
    }
    const first = await catalog.entries({ state: "ready", channel: "default" });
    expect(first.items.map(({ id }) => id)).toEqual(["3"]);
    const entries = await entriesOf(catalog, { state: "ready", channel: "default" });
    expect(entries.map(({ id }) => id)).toEqual(["3", "2", "1"]);
  });

  test("shows the beginning of a 10 MB envelope, of either layout", async () => {
    const { catalog, keys } = place();
    const huge = "x".repeat(10_000_000);
    await client.send("LPUSH", [
      keys.channel("default"),
      ownEnvelope("own", "default", { argumentsJson: `["${huge}"]` }),
    ]);
    await client.send("LPUSH", [
      keys.channel("default"),
      rubyEnvelope("ruby", "default", { arguments: [huge] }),
    ]);
    await client.send("LPUSH", [keys.channel("default"), huge]);
    const entries = await entriesOf(catalog, { state: "ready", channel: "default" });
    expect(entries.map(({ id, isWhole }) => [id, isWhole])).toEqual([
      [undefined, false],
      ["ruby", false],
      ["own", false],
    ]);
    expect(entries[0]?.problem).toContain("10000000 bytes");
    expect(entries[2]?.channel).toBe("default");
    expect(entries.every(({ text }) => text.length <= 4096)).toBe(true);
  });

  const malformed: [string, string, RegExp][] = [
    ["garbage", "\u0001garbage", /not JSON/],
    ["an array", "[1]", /expected a JSON object/],
    ["no id", rubyEnvelope("x", "c", { id: undefined }), /"id" must be a text, got nothing/],
    ["no task", rubyEnvelope("x", "c", { task: undefined }), /"task" must be a text, got nothing/],
    ["no channel", rubyEnvelope("x", "c", { channel: undefined }), /"channel" must be a text, got nothing/],
    [
      "no arguments",
      rubyEnvelope("x", "c", { arguments: undefined }),
      /"arguments" must be an array, got nothing/,
    ],
    ["text arguments", rubyEnvelope("x", "c", { arguments: "1" }), /"arguments" must be an array/],
    ["a cut envelope", ownEnvelope("x").slice(0, -1), /not JSON/],
    ["ours without task", ownEnvelope("x").replace('"task":"Count",', ""), /"task" must be a text/],
    [
      "ours without arguments",
      ownEnvelope("x").replace(',"arguments":[1]', ""),
      /"arguments" must be an array/,
    ],
    ["deep nesting", "[".repeat(5000), /not JSON/],
  ];
  test.each(malformed)("shows %s as malformed, with the reason", async (_name, member, reason) => {
    const { catalog, keys } = place();
    await client.send("LPUSH", [keys.channel("default"), member, ownEnvelope("good")]);
    for (const withText of [true, false]) {
      const { items } = await catalog.entries({ state: "ready", channel: "default" }, { withText });
      expect(items.map(({ problem }) => problem === undefined)).toEqual([true, false]);
      expect(items[1]?.problem).toMatch(reason);
    }
  });

  test("finds one job by its top-level id, whatever its arguments hold", async () => {
    const { catalog, keys } = place();
    const decoy = ownEnvelope("other", "default", { argumentsJson: '[{"id":"wanted"},"wanted"]' });
    const rubyDecoy = rubyEnvelope("third", "default", { arguments: [{ id: "wanted" }] });
    await client.send("LPUSH", [
      keys.channel("default"),
      decoy,
      rubyDecoy,
      rubyEnvelope("wanted"),
      ownEnvelope("wanted"),
    ]);
    const found = await entriesOf(catalog, { state: "ready", channel: "default" }, "wanted");
    expect(found.map(({ id }) => id)).toEqual(["wanted", "wanted"]);
  });
});

describe("reading a set", () => {
  test("meets every entry once, in the order of their times, also a thousand of one time", async () => {
    const { catalog, keys } = place();
    const members = Array.from({ length: 1000 }, (_, i) => [
      "1700000000.125",
      ownEnvelope(`tie-${i}`),
    ]).flat();
    await client.send("ZADD", [
      keys.planned,
      ...members,
      "1.5",
      ownEnvelope("first"),
      "1700000001",
      ownEnvelope("last"),
    ]);
    const entries = await entriesOf(catalog, { state: "planned" });
    expect(entries.length).toBe(1002);
    expect(new Set(entries.map(({ id }) => id)).size).toBe(1002);
    expect([entries[0]?.at, entries[1]?.at, entries[1001]?.at]).toEqual([1.5, 1700000000.125, 1700000001]);
  });

  test("passes over nothing when earlier entries are taken meanwhile", async () => {
    const { catalog, keys } = place();
    for (let i = 0; i < 250; i++)
      await client.send("ZADD", [keys.planned, String(i), ownEnvelope(`job-${i}`)]);
    const first = await catalog.entries({ state: "planned" });
    await client.send("ZREMRANGEBYRANK", [keys.planned, "0", "49"]);
    const rest = await all((cursor) =>
      catalog.entries({ state: "planned" }, { cursor: cursor ?? first.cursor }),
    );
    expect(rest.map(({ id }) => id)).toEqual(Array.from({ length: 150 }, (_, i) => `job-${100 + i}`));
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

  test("takes bytes that are not UTF-8, and garbage", async () => {
    const { catalog, keys } = place();
    const bytes = notUtf8(ownEnvelope("binary").slice(0, -3), '"]}');
    await sendBytes(client, "ZADD", keys.discarded, 1, bytes, 2, notUtf8("garbage", ""));
    for (const entry of await entriesOf(catalog, { state: "discarded" })) {
      expect(await catalog.remove("discarded", entry.locator)).toBe(true);
    }
    expect(await client.send("EXISTS", [keys.discarded])).toBe(0);
  });

  test("refuses a locator and a cursor that it did not give", async () => {
    const { catalog } = place();
    for (const text of ["", "{}", '["x","y",1]', '["1","y",-1]', "null"]) {
      await expect(catalog.remove("planned", text)).rejects.toThrow(
        /expected a locator that this catalog gave/,
      );
    }
    await expect(catalog.entries({ state: "planned" }, { cursor: "7" })).rejects.toThrow(StoreError);
    await expect(catalog.entries({ state: "ready", channel: "x" }, { cursor: '["a",1]' })).rejects.toThrow(
      StoreError,
    );
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

  test("puts jobs into channels with odd names", async () => {
    const { catalog, keys } = place();
    for (const [i, name] of oddNames.entries()) {
      const make = i % 2 === 0 ? ownEnvelope : rubyEnvelope;
      await client.send("ZADD", [keys.planned, String(i), make(`job-${i}`, name)]);
    }
    expect(await catalog.requeueStep("planned", { skip: 0, most: 100 })).toEqual({
      requeued: oddNames.length,
      kept: 0,
      remaining: 0,
    });
    for (const name of oddNames) expect(await client.send("LLEN", [keys.channel(name)])).toBe(1);
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

  test("are all shown when their payloads are too large for one call", async () => {
    const { catalog, keys } = place();
    for (let slot = 0; slot < 12; slot++) {
      const payload = ownEnvelope(`j${slot}`, "c", { argumentsJson: `["${"x".repeat(300_000)}"]` });
      await client.send("HSET", [keys.nodeClaims("n"), `w.${slot}`, record(`j${slot}`)]);
      await client.send("RPUSH", [keys.claimed("n", "w", slot), payload]);
    }
    const claims = await all((cursor) => catalog.claims("n", cursor));
    expect(claims.map(({ record: claim, entry }) => claim?.jobId === entry?.id)).toEqual(
      Array(12).fill(true),
    );
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
