import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { Catalog } from "../../src/catalog/catalog.ts";
import type { CatalogStore, EntryPlace } from "../../src/store/catalog-store.ts";
import type { CatalogHarness } from "../store/catalog/harness.ts";
import { redisCatalogHarness } from "../store/redis/catalog-harness.ts";
import { sqliteCatalogHarness } from "../store/sqlite/catalog-harness.ts";
import { RedisServer } from "../support/redis-server.ts";
import { notUtf8, ownEnvelope, rubyEnvelope } from "../support/stored.ts";

const live = "host~bun:1:aaaaaaaaaaaa";
let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

const engines: [string, () => Promise<CatalogHarness>][] = [
  ["Redis", () => redisCatalogHarness(server.url)],
  ["SQLite", sqliteCatalogHarness],
];

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const list: T[] = [];
  for await (const item of items) list.push(item);
  return list;
}

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

describe.each(engines)("on %s", (_name, open) => {
  const it = (name: string, body: (h: CatalogHarness, catalog: Catalog) => Promise<void>) =>
    test(name, async () => {
      const harness = await open();
      try {
        await body(harness, new Catalog(undefined, harness.catalog));
      } finally {
        await harness.close();
      }
    });

  describe("the catalog", () => {
    it("counts the jobs of all channels", async (h, catalog) => {
      await h.push("a", ownEnvelope("1", "a"), ownEnvelope("2", "a"));
      await h.push("b");
      await h.push("c", ownEnvelope("3", "c"));
      await catalog.pause("b");
      expect(await catalog.counters()).toMatchObject({ ready: 3, channels: 3, planned: 0 });
    });

    it("iterates, searches and changes the sets by the entries they gave", async (h, catalog) => {
      for (const name of ["planned", "retrying", "discarded"] as const) {
        const set = catalog[name];
        await h.put(name, [3, ownEnvelope("c")], [1, ownEnvelope("a")], [2, rubyEnvelope("b")]);
        expect(await set.size()).toBe(3);
        expect((await collected(set.entries())).map(({ id, at }) => [id, at])).toEqual([
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
        expect(await set.purge()).toEqual({ removed: 1, isComplete: true });
      }
      expect((await collected(catalog.jobs("default"))).map(({ id }) => id)).toEqual(["c", "c", "c"]);
    });

    it("requeues all, large envelopes of other members too, and keeps what names no channel", async (h, catalog) => {
      const large = rubyEnvelope("large", "default", { arguments: ["z".repeat(200_000)] });
      await h.put("retrying", [1, "garbage"], [2, large], [3, ownEnvelope("own")]);
      expect(await catalog.retrying.requeueAll()).toEqual({ requeued: 2, kept: 1, isComplete: true });
      expect((await collected(catalog.jobs("default"))).map(({ id }) => id).sort()).toEqual(["large", "own"]);
    });

    it("requeues and purges many in steps that can be stopped", async (h, catalog) => {
      await h.put(
        "discarded",
        ...Array.from({ length: 5000 }, (_, i) => [i, ownEnvelope(`job-${i}`)] as const),
      );
      const abort = new AbortController();
      const onProgress = ({ done }: { done: number }) => done >= 1000 && abort.abort();
      const stopped = await catalog.discarded.requeueAll({ signal: abort.signal, onProgress });
      expect(stopped).toEqual({ requeued: 1000, kept: 0, isComplete: false });
      expect(await catalog.discarded.requeueAll()).toEqual({ requeued: 4000, kept: 0, isComplete: true });
      expect(await catalog.purge("default")).toEqual({ removed: 5000, isComplete: true });
    });

    it("purges all there is, also what came after a purge that was stopped a moment ago", async (h, catalog) => {
      const some = (count: number, name: string) =>
        Array.from({ length: count }, (_, i) => ownEnvelope(`${name}-${i}`));
      await h.push("default", ...some(2500, "early"));
      const abort = new AbortController();
      const { removed } = await catalog.purge("default", {
        signal: abort.signal,
        onProgress: () => abort.abort(),
      });
      await h.push("default", ...some(3000, "late"));
      expect(await catalog.purge("default")).toEqual({ removed: 5500 - removed, isComplete: true });
      expect(await collected(catalog.jobs("default"))).toEqual([]);
    });

    it("locates a job in every state", async (h, catalog) => {
      await h.push("a:b {c}", ownEnvelope("ready", "a:b {c}"));
      await h.put("planned", [5, ownEnvelope("planned")]);
      await h.put("retrying", [6, rubyEnvelope("retrying")]);
      await h.put("discarded", [7, ownEnvelope("discarded")]);
      await h.claim("gone:1:bbbbbbbbbbbb", 0, { id: "claimed", payload: ownEnvelope("claimed") });
      for (const state of ["ready", "planned", "retrying", "discarded", "claimed"] as const) {
        const location = await catalog.locate(state);
        expect(location?.place.state).toBe(state);
        expect(location?.entry.envelope?.id).toBe(state);
      }
      expect(await catalog.locate("nowhere")).toBeUndefined();
    });
  });

  describe("the integrity check", () => {
    it("finds nothing wrong in an empty store", async (_h, catalog) => {
      const { states, counts, isSound, ...faults } = await catalog.integrityCheck();
      expect([states.size, isSound, Object.values(counts), Object.values(faults).flat()]).toEqual([
        0,
        true,
        [0, 0, 0, 0, 0, 0, 0],
        [],
      ]);
    });

    it("gives the state of every id", async (h, catalog) => {
      await h.liveNode(live);
      await h.push("größe:{1} 2", ownEnvelope("ready", "größe:{1} 2"));
      await h.put("planned", [1, ownEnvelope("planned")]);
      await h.put("retrying", [1, rubyEnvelope("retrying")]);
      await h.put("discarded", [1, ownEnvelope("discarded")]);
      await h.claim(live, 0, { id: "claimed", payload: ownEnvelope("claimed") });
      const ackedKey = await h.ids(["acked", "acked unasked"]);
      const states = ["ready", "planned", "retrying", "discarded", "claimed", "acked", "lost"] as const;
      const report = await catalog.integrityCheck({ expectedIds: states, ackedKey });
      expect(Object.fromEntries(report.states)).toEqual({
        ...Object.fromEntries(states.map((state) => [state, state])),
        "acked unasked": "acked",
      });
      expect(report.lost).toEqual(["lost"]);
      const { lost, isSound, states: _states, counts, ...faults } = report;
      expect(Object.values(faults).flat()).toEqual([]);
    });

    it("reports jobs in more than one place", async (h, catalog) => {
      await h.liveNode(live);
      await h.push("a", ownEnvelope("twice", "a"), ownEnvelope("twice", "a"), ownEnvelope("spread", "a"));
      await h.put("retrying", [1, rubyEnvelope("spread")]);
      await h.claim(live, 0, { id: "spread", payload: ownEnvelope("spread") });
      const { duplicates } = await catalog.integrityCheck();
      const found = duplicates.map(({ id, places }) => [id, places.map(({ state }) => state)]);
      expect(Object.fromEntries(found)).toEqual({
        twice: ["ready", "ready"],
        spread: ["retrying", "ready", "claimed"],
      });
    });

    it("reports every malformed entry with its place", async (h, catalog) => {
      await h.liveNode(live);
      await h.push("c", "garbage", rubyEnvelope("x", "c", { arguments: "text" }));
      await h.put("planned", [1, "{}"]);
      await h.put("discarded", [1, notUtf8("", "")]);
      await h.claim(live, 0, { id: "y", payload: "[]" });
      await h.push("big", "x".repeat(10_000_000));
      const { malformed } = await catalog.integrityCheck();
      const told = malformed.map(
        ({ place, id, problem }) => `${place.state} ${id ?? "-"} ${problem.slice(0, 12)}`,
      );
      expect(told.sort()).toEqual([
        "claimed - expected a J",
        "discarded - not JSON: JS",
        'planned - "id" must be',
        "ready - cannot be re",
        "ready - not JSON: JS",
        'ready x "arguments" ',
      ]);
    });

    it("reports what no live node holds, and invalid claims", async (h, catalog) => {
      await h.liveNode(live);
      await h.claim(live, 0, { id: "good", payload: ownEnvelope("good") });
      await h.claim(live, 1, { id: "one", payload: ownEnvelope("another") });
      await h.emptyClaim(live, 2, "empty");
      await h.claim("gone:1:bbbbbbbbbbbb", 0, { id: "orphan", payload: ownEnvelope("orphan") });
      await h.unclaimed(ownEnvelope("stray"));
      const { orphaned, invalidClaims, states } = await catalog.integrityCheck();
      expect(orphaned.map(({ jobId }) => jobId).sort()).toEqual(["orphan", "stray"]);
      expect(invalidClaims.map(({ fault }) => fault).sort()).toEqual([
        "claim of another job",
        "claim without an envelope",
        "envelope without a claim",
      ]);
      expect(states.get("stray")).toBe("claimed");
    });

    it("does not call a job lost, or double, that moves behind its back", async (h) => {
      const store = before(h.catalog, "ready", async () => {
        await h.take("default", 1);
        await h.put("retrying", [1, ownEnvelope("later")]);
        await h.takeEarliest("planned", 1);
        await h.push("default", ownEnvelope("promoted"));
      });
      await h.put("planned", [1, ownEnvelope("promoted")]);
      await h.push("default", ownEnvelope("later"), ownEnvelope("other"));
      const ids = ["later", "other", "promoted"];
      const report = await new Catalog(undefined, store).integrityCheck({ expectedIds: ids });
      expect(Object.fromEntries(report.states)).toEqual({
        later: "retrying",
        other: "ready",
        promoted: "ready",
      });
      expect(report.isSound).toBe(true);
    });

    it("accounts for twenty thousand jobs in pages", async (h, catalog) => {
      const ids = Array.from({ length: 20_000 }, (_, i) => `job-${i}`);
      await h.push("default", ...ids.slice(0, 10_000).map((id) => ownEnvelope(id)));
      await h.put("planned", ...ids.slice(10_000).map((id) => [5, ownEnvelope(id)] as const));
      const report = await catalog.integrityCheck({ expectedIds: ids });
      expect(report.counts).toMatchObject({ ready: 10_000, planned: 10_000, lost: 0 });
      expect(report.isSound).toBe(true);
    });
  });
});
