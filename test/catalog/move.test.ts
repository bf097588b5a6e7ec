import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { type MoveOptions, type MoveProgress, moveJobs } from "../../src/catalog/move.ts";
import { StoreUnavailable } from "../../src/foundation/errors.ts";
import type { TransferStore } from "../../src/store/transfer-store.ts";
import { all, type CatalogHarness, channelsOf, entriesOf } from "../store/catalog/harness.ts";
import { redisCatalogHarness } from "../store/redis/catalog-harness.ts";
import { sqliteCatalogHarness } from "../store/sqlite/catalog-harness.ts";
import { RedisServer } from "../support/redis-server.ts";
import { notUtf8, ownEnvelope, rubyEnvelope, sha1 } from "../support/stored.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const redis = () => redisCatalogHarness(server.url);
const directions: [string, () => Promise<CatalogHarness>, () => Promise<CatalogHarness>][] = [
  ["from SQLite to Redis", sqliteCatalogHarness, redis],
  ["from Redis to SQLite", redis, sqliteCatalogHarness],
  ["from Redis to Redis", redis, redis],
  ["from SQLite to SQLite", sqliteCatalogHarness, sqliteCatalogHarness],
];

const digests = (payloads: readonly Uint8Array[]) => payloads.map(sha1);
const odd = "größe:{1} ジョブ 🚀";
const binary = notUtf8(`${rubyEnvelope("binary").slice(0, -1)},"note":"`, '"}');

/** Something of every kind. */
async function fill(h: CatalogHarness): Promise<void> {
  await h.push(
    "default",
    ownEnvelope("same"),
    ownEnvelope("same"),
    "garbage \u0000 ü",
    binary,
    notUtf8("", ""),
  );
  await h.push(odd, ...Array.from({ length: 1200 }, (_, i) => ownEnvelope(`job-${i}`, odd)));
  await h.push("empty");
  await h.put("planned", [2e9 + 0.125, ownEnvelope("b", odd)], [1.5, rubyEnvelope("a")], [-3, "garbage"]);
  await h.put("retrying", ...Array.from({ length: 700 }, (_, i) => [7, ownEnvelope(`tie-${i}`)] as const));
  await h.put("discarded", [1700000000.000001, binary]);
  await h.catalog.pause(odd);
  await h.catalog.pause("only paused");
}

/** All that is stored, in a form in which two stores can be held against each other. */
async function contents(h: CatalogHarness) {
  const views = await channelsOf(h.catalog);
  const channels: Record<string, readonly string[]> = {};
  for (const { name } of views) channels[name] = digests(await h.channel(name));
  const sets: Record<string, unknown> = {};
  for (const set of ["planned", "retrying", "discarded"] as const) {
    const entries = await entriesOf(h.catalog, { state: set });
    const payloads = await h.set(set);
    sets[set] = {
      times: entries.map(({ at }) => at),
      payloads: set === "retrying" ? digests(payloads).sort() : digests(payloads), // ties have no order
    };
  }
  return { channels, sets, paused: views.flatMap(({ name, isPaused }) => (isPaused ? [name] : [])).sort() };
}

/** A transfer store whose calls of one method fail from the given one on, before or after their work. */
function failing(
  store: TransferStore,
  name: "add" | "remove",
  from: number,
  when: "before" | "after",
): TransferStore {
  let calls = 0;
  return new Proxy(store, {
    get(target, property) {
      const value: unknown = Reflect.get(target, property);
      if (typeof value !== "function") return value;
      if (property !== name) return value.bind(target);
      return async (...args: unknown[]) => {
        calls += 1;
        if (calls < from) return value.apply(target, args);
        if (when === "after") await value.apply(target, args);
        throw new StoreUnavailable("the power went out", { isSent: true });
      };
    },
  });
}

function move(from: CatalogHarness, to: CatalogHarness, options: Partial<MoveOptions> = {}) {
  return moveJobs({ from, to, isDeleting: false, ...options });
}

describe.each(directions)("moving jobs %s", (_name, openFrom, openTo) => {
  const it = (name: string, body: (from: CatalogHarness, to: CatalogHarness) => Promise<void>) =>
    test(name, async () => {
      const [from, to] = [await openFrom(), await openTo()];
      try {
        await body(from, to);
      } finally {
        await from.close();
        await to.close();
      }
    });

  it("copies every byte, in order, with times and pauses, and leaves the source as it is", async (from, to) => {
    await fill(from);
    const before = await contents(from);
    const report = await move(from, to);
    expect(report).toMatchObject({
      counts: { ready: 1205, planned: 3, retrying: 700, discarded: 1 },
      added: 1909,
      removed: 0,
      isResumed: false,
    });
    const { channels: _, ...copied } = await contents(to);
    const { channels: wanted, ...rest } = before;
    expect(copied).toEqual(rest);
    for (const [name, payloads] of Object.entries(wanted)) {
      expect(digests(await to.channel(name))).toEqual([...payloads]);
    }
    expect(await contents(from)).toEqual(before);
  });

  it("takes away what it has copied, when it is asked to, and leaves no journal", async (from, to) => {
    await fill(from);
    const wanted = await contents(from);
    expect(await move(from, to, { isDeleting: true })).toMatchObject({ added: 1909, removed: 1909 });
    expect((await contents(to)).sets).toEqual(wanted.sets);
    const { channels, sets } = await contents(from);
    expect([Object.values(channels).flat(), Object.values(sets)]).toEqual([
      [],
      Array(3).fill({ times: [], payloads: [] }),
    ]);
    expect([await from.journals(), await to.journals()]).toEqual([[], []]);
    expect(await move(from, to, { isDeleting: true })).toMatchObject({ added: 0, removed: 0 });
  });

  it("puts them behind those that wait there", async (from, to) => {
    await to.push("default", ownEnvelope("first"));
    await from.push("default", ownEnvelope("second"), ownEnvelope("third"));
    await move(from, to);
    const expected = ["first", "second", "third"].map((id) => sha1(ownEnvelope(id)));
    expect(digests(await to.channel("default"))).toEqual(expected);
  });

  for (const when of ["before", "after"] as const) {
    it(`adds nothing twice when it ended ${when} an addition`, async (from, to) => {
      await fill(from);
      const wanted = await contents(from);
      const broken = { catalog: to.catalog, transfer: failing(to.transfer, "add", 4, when) };
      await expect(moveJobs({ from, to: broken, isDeleting: true })).rejects.toThrow("the power went out");
      expect((await contents(from)).channels).toEqual(wanted.channels);
      expect((await to.journals()).length).toBeGreaterThan(0);
      const report = await move(from, to, { isDeleting: true });
      expect(report).toMatchObject({ removed: 1909, isResumed: true });
      expect(report.added).toBeLessThan(1909);
      expect(await contents(to)).toEqual(wanted);
    });

    it(`adds nothing twice when it ended ${when} a deletion`, async (from, to) => {
      await fill(from);
      const wanted = await contents(from);
      const broken = { catalog: from.catalog, transfer: failing(from.transfer, "remove", 3, when) };
      await expect(moveJobs({ from: broken, to, isDeleting: true })).rejects.toThrow("the power went out");
      expect(await move(from, to, { isDeleting: true })).toMatchObject({ added: 0, isResumed: true });
      expect(await contents(to)).toEqual(wanted);
      expect(Object.values((await contents(from)).channels).flat()).toEqual([]);
    });
  }

  it("brings jobs that are published meanwhile, too", async (from, to) => {
    await fill(from);
    let published = 0;
    const onProgress = async ({ step }: MoveProgress) => {
      if (step !== "copying" || published++ > 0) return;
      await from.push("default", ownEnvelope("late"));
      await from.push("new channel", ownEnvelope("later", "new channel"));
      await from.put("planned", [0.5, ownEnvelope("latest")]);
    };
    await move(from, to, { onProgress: (progress) => void onProgress(progress) });
    expect(digests(await to.channel("default")).at(-1)).toBe(sha1(ownEnvelope("late")));
    expect(digests(await to.channel("new channel"))).toEqual([sha1(ownEnvelope("later", "new channel"))]);
    expect(digests(await to.set("planned"))).toContain(sha1(ownEnvelope("latest")));
  });

  it("refuses while a node lives on either store, and while jobs are held in the source", async (from, to) => {
    await from.push("default", ownEnvelope("a"));
    await from.claim("gone:1:bbbbbbbbbbbb", 0, { id: "held", payload: ownEnvelope("held") });
    await expect(move(from, to)).rejects.toThrow(
      /1 claims of jobs are left in .*gone:1:b.* start a node on it/,
    );
    await to.liveNode("host~bun:1:aaaaaaaaaaaa");
    await expect(move(from, to)).rejects.toThrow(
      /the node host~bun:1:aaaaaaaaaaaa works on .*: stop all nodes/,
    );
    expect(await to.channel("default")).toEqual([]);
  });

  it("refuses payloads that nothing claims", async (from, to) => {
    await from.unclaimed(ownEnvelope("stray"));
    await expect(move(from, to)).rejects.toThrow(/1 claims of jobs are left/);
  });

  it("refuses to copy twice what it has copied completely, unless it is asked to", async (from, to) => {
    await from.push("default", ownEnvelope("a"));
    await move(from, to);
    await expect(move(from, to)).rejects.toThrow(/was copied here completely at .* --again/);
    expect((await to.channel("default")).length).toBe(1);
    expect(await move(from, to, { isAgain: true })).toMatchObject({ added: 1, isResumed: false });
    expect((await to.channel("default")).length).toBe(2);
  });

  it("ends with the signal's reason, and goes on in another run", async (from, to) => {
    await fill(from);
    const abort = new AbortController();
    const onProgress = ({ done }: MoveProgress) => done > 600 && abort.abort(new Error("interrupted"));
    const options = { signal: abort.signal, onProgress: (its: MoveProgress) => void onProgress(its) };
    await expect(move(from, to, options)).rejects.toThrow("interrupted");
    expect(await move(from, to)).toMatchObject({ isResumed: true });
    expect((await to.channel(odd)).length).toBe(1200);
  });

  it("moves a 4 MB envelope, with bytes that are not ASCII", async (from, to) => {
    const large = ownEnvelope("large", "default", { argumentsJson: `["${"ü".repeat(2_000_000)}"]` });
    await from.push("default", ownEnvelope("small"), large);
    await move(from, to);
    expect(digests(await to.channel("default"))).toEqual([ownEnvelope("small"), large].map(sha1));
  });
});

test("entries of equal bytes and times both arrive in a set of Redis, which holds no bytes twice", async () => {
  const [from, to] = [await sqliteCatalogHarness(), await redis()];
  try {
    await from.put("planned", [5, ownEnvelope("a")], [5, ownEnvelope("a")], [6, ownEnvelope("a")]);
    expect(await move(from, to, { isDeleting: true })).toMatchObject({ added: 3, removed: 3 });
    const entries = await entriesOf(to.catalog, { state: "planned" });
    expect(entries.map(({ id, at, problem }) => [id, at, problem])).toEqual([
      ["a", 5, undefined],
      ["a", 5, undefined],
      ["a", 6, undefined],
    ]);
  } finally {
    await from.close();
    await to.close();
  }
});

test("one store under two names is refused, and nothing is left in it", async () => {
  const store = await redis();
  try {
    await store.push("default", ownEnvelope("a"));
    await expect(move(store, store)).rejects.toMatchObject({ code: "MOVE_REFUSED" });
    await expect(move(store, store)).rejects.toThrow(/are the same one/);
    expect(await store.journals()).toEqual([]);
    expect((await all((cursor) => store.catalog.channels(cursor)))[0]).toMatchObject({ size: 1 });
  } finally {
    await store.close();
  }
});
