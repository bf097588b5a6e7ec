import { describe, expect, test } from "bun:test";
import { StoreError } from "../../src/foundation/errors.ts";
import { notUtf8, ownEnvelope, rubyEnvelope, sha1 } from "../support/stored.ts";
import { all, type CatalogEngine, type CatalogHarness, channelsOf, entriesOf } from "./catalog/harness.ts";

const oddNames = ["a:b", "{tag}", "with space", "größe-ジョブ-🚀", 'quo"te', "back\\slash", "*?[x]"];
const digests = (payloads: readonly Uint8Array[]) => payloads.map(sha1);

/** The one suite that every catalog passes: the contract of `src/store/catalog-store.ts`. */
export function catalogConformance(engine: CatalogEngine): void {
  const it = (name: string, body: (harness: CatalogHarness) => Promise<void>) =>
    test(name, async () => {
      const harness = await engine.open();
      try {
        await body(harness);
      } finally {
        await harness.close();
      }
    });
  describe(`the catalog on ${engine.name}`, () => {
    describe("counters", () => counters(it));
    describe("channels", () => channels(it));
    describe("reading a channel", () => readingChannels(it));
    describe("reading a set", () => readingSets(it));
    describe("removing", () => removing(it));
    describe("requeueing", () => requeueing(it));
    describe("purging", () => purging(it));
    describe("nodes", () => nodes(it));
    describe("claims", () => claims(it));
    describe("a user's own ids", () => userIds(it));
  });
}

type It = (name: string, body: (harness: CatalogHarness) => Promise<void>) => void;

function counters(it: It): void {
  it("count what was done and what is where", async (h) => {
    await h.count({ processed: 12, failed: 3 });
    await h.put("planned", [1, ownEnvelope("a")], [2, ownEnvelope("b")]);
    await h.put("retrying", [1, ownEnvelope("c", "default")]);
    await h.push("default", ownEnvelope("d"));
    await h.node({ identity: "n", info: "{}" });
    expect(await h.catalog.counters()).toEqual({
      processed: 12,
      failed: 3,
      planned: 2,
      retrying: 1,
      discarded: 0,
      channels: 1,
      nodes: 1,
    });
  });

  it("are zero in an empty store", async ({ catalog }) => {
    expect(Object.values(await catalog.counters())).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });
}

function channels(it: It): void {
  it("keep odd names whatever is done with them", async ({ catalog, push, channel }) => {
    for (const name of oddNames) {
      await push(name, ownEnvelope("1", name), ownEnvelope("2", name));
      expect(await catalog.pause(name)).toBe(true);
      expect(await catalog.pause(name)).toBe(false);
    }
    const views = await channelsOf(catalog);
    expect(views.map(({ name }) => name).sort()).toEqual([...oddNames].sort());
    expect(views.every(({ size, isPaused, problem }) => size === 2 && isPaused && !problem)).toBe(true);
    for (const name of oddNames) {
      expect(await catalog.resume(name)).toBe(true);
      expect(await catalog.resume(name)).toBe(false);
      const entries = await entriesOf(catalog, { state: "ready", channel: name });
      expect(entries.map(({ id, channel: its, at }) => [id, its, at])).toEqual([
        ["2", name, undefined],
        ["1", name, undefined],
      ]);
      expect(await catalog.purgeStep({ state: "ready", channel: name })).toEqual({
        removed: 2,
        remaining: 0,
      });
      expect(await channel(name)).toEqual([]);
    }
  });

  it("tell how long the next job has waited, by the store's clock", async ({ catalog, push }) => {
    await push("own", ownEnvelope("1", "own", { nowMs: Date.now() - 10_000 }), ownEnvelope("new", "own"));
    await push("ruby", rubyEnvelope("2", "ruby", { queued_ms: Date.now() - 60_000 }));
    await push("future", ownEnvelope("3", "future", { nowMs: Date.now() + 1e9 }));
    await push("garbage", "\u0000{");
    const waiting = Object.fromEntries(
      (await channelsOf(catalog)).map(({ name, waitingSeconds }) => [name, waitingSeconds]),
    );
    expect(waiting.own).toBeGreaterThanOrEqual(10);
    expect(waiting.own).toBeLessThan(60);
    expect(waiting.ruby).toBeGreaterThanOrEqual(60);
    expect(waiting.future).toBe(0);
    expect(waiting.garbage).toBe(0);
  });

  it("are listed when they are only paused", async ({ catalog, push }) => {
    await push("known");
    await catalog.pause("known");
    await catalog.pause("not yet");
    expect((await channelsOf(catalog)).map(({ name }) => name).sort()).toEqual(["known", "not yet"]);
  });

  it("are all listed in pages, whatever the size of their next jobs", async ({ catalog, push }) => {
    const large = `["${"x".repeat(400_000)}"]`;
    for (let i = 0; i < 12; i++) await push(`c${i}`, ownEnvelope("1", `c${i}`, { argumentsJson: large }));
    for (let i = 12; i < 250; i++) await push(`c${i}`);
    const names = (await channelsOf(catalog)).map(({ name }) => name);
    expect(new Set(names).size).toBe(250);
  });
}

function readingChannels(it: It): void {
  it("meets every entry once while newer ones come in and older ones are taken", async (h) => {
    await h.push("default", ...Array.from({ length: 450 }, (_, i) => ownEnvelope(`job-${i}`)));
    const ids: (string | undefined)[] = [];
    let cursor: string | undefined;
    let published = 0;
    do {
      const page = await h.catalog.entries({ state: "ready", channel: "default" }, { cursor });
      ids.push(...page.items.map(({ id }) => id));
      cursor = page.cursor;
      for (let i = 0; i < 7; i++) await h.push("default", ownEnvelope(`late-${published++}`));
      await h.take("default", 3);
    } while (cursor !== undefined);
    expect(new Set(ids).size).toBe(ids.length);
    // Those that were taken meanwhile stood at the far end.
    expect(ids.slice(0, 430)).toEqual(Array.from({ length: 430 }, (_, i) => `job-${449 - i}`));
  });

  it("does not swallow a true double on the border of two pages", async ({ catalog, push }) => {
    const envelopes = Array.from({ length: 150 }, (_, i) => ownEnvelope(i === 50 ? "job-49" : `job-${i}`));
    await push("default", ...envelopes);
    const entries = await entriesOf(catalog, { state: "ready", channel: "default" });
    expect(entries.length).toBe(150);
    expect(entries.filter(({ id }) => id === "job-49").length).toBe(2);
  });

  it("bounds a page by bytes, but always shows one entry", async ({ catalog, push }) => {
    const half = `["${"x".repeat(600_000)}"]`;
    for (const id of ["1", "2", "3"])
      await push("default", ownEnvelope(id, "default", { argumentsJson: half }));
    const first = await catalog.entries({ state: "ready", channel: "default" });
    expect(first.items.map(({ id }) => id)).toEqual(["3"]);
    const entries = await entriesOf(catalog, { state: "ready", channel: "default" });
    expect(entries.map(({ id }) => id)).toEqual(["3", "2", "1"]);
  });

  it("shows the beginning of a 10 MB envelope, of either layout", async ({ catalog, push }) => {
    const huge = "x".repeat(10_000_000);
    await push("default", ownEnvelope("own", "default", { argumentsJson: `["${huge}"]` }));
    await push("default", rubyEnvelope("ruby", "default", { arguments: [huge] }));
    await push("default", huge);
    const entries = await entriesOf(catalog, { state: "ready", channel: "default" });
    expect(entries.map(({ id, isWhole }) => [id, isWhole])).toEqual([
      [undefined, false],
      ["ruby", false],
      ["own", false],
    ]);
    expect(entries[0]?.problem).toContain("10000000 bytes");
    expect(entries[2]?.channel).toBe("default");
    expect(entries.every(({ text, bytes }) => text.length <= 4096 && bytes >= 10_000_000)).toBe(true);
  });

  const malformed: [string, string, RegExp][] = [
    ["garbage", "\u0001garbage", /not JSON/],
    ["an array", "[1]", /expected a JSON object/],
    ["no id", rubyEnvelope("x", "c", { id: undefined }), /"id" must be a text, got nothing/],
    ["no task", rubyEnvelope("x", "c", { task: undefined }), /"task" must be a text, got nothing/],
    ["no channel", rubyEnvelope("x", "c", { channel: undefined }), /"channel" must be a text, got nothing/],
    ["no arguments", rubyEnvelope("x", "c", { arguments: undefined }), /"arguments" must be an array/],
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
  for (const [name, member, reason] of malformed) {
    it(`shows ${name} as malformed, with the reason`, async ({ catalog, push }) => {
      await push("default", member, ownEnvelope("good"));
      for (const withText of [true, false]) {
        const { items } = await catalog.entries({ state: "ready", channel: "default" }, { withText });
        expect(items.map(({ problem }) => problem === undefined)).toEqual([true, false]);
        expect(items[1]?.problem).toMatch(reason);
      }
    });
  }

  it("leaves the texts of well laid out envelopes away where they are not wanted", async ({
    catalog,
    push,
  }) => {
    await push("default", ownEnvelope("a"));
    const { items } = await catalog.entries({ state: "ready", channel: "default" }, { withText: false });
    expect(items).toMatchObject([
      { id: "a", channel: "default", text: "", isWhole: false, problem: undefined },
    ]);
  });

  it("finds one job by its top-level id, whatever its arguments hold", async ({ catalog, push }) => {
    const decoy = ownEnvelope("other", "default", { argumentsJson: '[{"id":"wanted"},"wanted"]' });
    const rubyDecoy = rubyEnvelope("third", "default", { arguments: [{ id: "wanted" }] });
    await push("default", decoy, rubyDecoy, rubyEnvelope("wanted"));
    await push("default", ...Array.from({ length: 1500 }, (_, i) => ownEnvelope(`filler-${i}`)));
    await push("default", ownEnvelope("wanted"));
    const found = await entriesOf(catalog, { state: "ready", channel: "default" }, "wanted");
    expect(found.map(({ id }) => id)).toEqual(["wanted", "wanted"]);
  });

  it("refuses a cursor that it did not give", async ({ catalog }) => {
    await expect(catalog.entries({ state: "planned" }, { cursor: "7" })).rejects.toThrow(StoreError);
    await expect(catalog.entries({ state: "ready", channel: "x" }, { cursor: '["a",1]' })).rejects.toThrow(
      /expected a cursor that this catalog gave/,
    );
  });
}

function readingSets(it: It): void {
  it("meets every entry once, in the order of their times, also a thousand of one time", async (h) => {
    await h.put(
      "planned",
      ...Array.from({ length: 1000 }, (_, i) => [1700000000.125, ownEnvelope(`tie-${i}`)] as const),
      [1.5, ownEnvelope("first")],
      [1700000001, ownEnvelope("last")],
    );
    const entries = await entriesOf(h.catalog, { state: "planned" });
    expect(new Set(entries.map(({ id }) => id)).size).toBe(1002);
    expect([entries.length, entries[0]?.at, entries[1]?.at, entries[1001]?.at]).toEqual([
      1002, 1.5, 1700000000.125, 1700000001,
    ]);
  });

  it("passes over nothing when earlier entries are taken meanwhile", async (h) => {
    await h.put("planned", ...Array.from({ length: 250 }, (_, i) => [i, ownEnvelope(`job-${i}`)] as const));
    const first = await h.catalog.entries({ state: "planned" });
    await h.takeEarliest("planned", 50);
    const rest = await all((cursor) =>
      h.catalog.entries({ state: "planned" }, { cursor: cursor ?? first.cursor }),
    );
    expect(rest.map(({ id }) => id)).toEqual(Array.from({ length: 150 }, (_, i) => `job-${100 + i}`));
  });
}

function removing(it: It): void {
  it("takes the entry meant among many of one time", async (h) => {
    const tie = (i: number) => `tie-${String(i).padStart(3, "0")}`;
    await h.put("retrying", ...Array.from({ length: 350 }, (_, i) => [7, ownEnvelope(tie(i))] as const));
    const entry = (await entriesOf(h.catalog, { state: "retrying" }, "tie-222"))[0]!;
    // It has moved far from where it was read.
    await h.takeEarliest("retrying", 200);
    expect(await h.catalog.remove("planned", entry.locator)).toBe(false);
    expect(await h.catalog.remove("retrying", entry.locator)).toBe(true);
    expect(await h.catalog.remove("retrying", entry.locator)).toBe(false);
    const left = (await entriesOf(h.catalog, { state: "retrying" })).map(({ id }) => id);
    expect(left.length).toBe(149);
    expect(left).not.toContain("tie-222");
  });

  it("takes bytes that are not UTF-8, and garbage", async ({ catalog, put, set }) => {
    const bytes = notUtf8(ownEnvelope("binary").slice(0, -3), '"]}');
    await put("discarded", [1, bytes], [2, notUtf8("garbage", "")]);
    for (const entry of await entriesOf(catalog, { state: "discarded" })) {
      expect(await catalog.remove("discarded", entry.locator)).toBe(true);
    }
    expect(await set("discarded")).toEqual([]);
  });

  it("refuses a locator that it did not give", async ({ catalog }) => {
    for (const text of ["", "{}", '["x","y",1]', '["1","y",-1]', "null"]) {
      await expect(catalog.remove("planned", text)).rejects.toThrow(
        /expected a locator that this catalog gave/,
      );
    }
  });
}

function requeueing(it: It): void {
  it("moves an entry behind those that wait, with nothing changed but its queued_ms", async (h) => {
    const failed = ownEnvelope("job").replace(',"arguments"', ',"failure_count":3,"arguments"');
    await h.push("default", ownEnvelope("waiting"));
    await h.put("discarded", [1, failed]);
    const entry = (await entriesOf(h.catalog, { state: "discarded" }))[0]!;
    expect(await h.catalog.requeue("discarded", entry.locator)).toBe("requeued");
    expect(await h.catalog.requeue("discarded", entry.locator)).toBe("gone");
    const [waiting, moved] = (await h.channel("default")).map((bytes) => Buffer.from(bytes).toString());
    expect(waiting).toBe(ownEnvelope("waiting"));
    const queuedMs = JSON.parse(moved!).queued_ms;
    expect(Date.now() - queuedMs).toBeLessThan(60_000);
    expect(moved!.replace(`"queued_ms":${queuedMs}`, '"queued_ms":1700000000000')).toBe(failed);
  });

  it("keeps bytes that are not UTF-8", async ({ catalog, put, channel }) => {
    const bytes = notUtf8(`${rubyEnvelope("binary").slice(0, -1)},"note":"`, '"}');
    await put("retrying", [1, bytes]);
    const entry = (await entriesOf(catalog, { state: "retrying" }))[0]!;
    expect(await catalog.requeue("retrying", entry.locator)).toBe("requeued");
    expect(digests(await channel("default"))).toEqual([sha1(bytes)]);
  });

  it("keeps the order of the set in a step", async ({ catalog, put, channel }) => {
    const entries = Array.from({ length: 50 }, (_, i) => [100 - i, rubyEnvelope(`job-${i}`)] as const);
    await put("planned", ...entries);
    expect(await catalog.requeueStep("planned", { skip: 0, most: 30 })).toEqual({
      requeued: 30,
      kept: 0,
      remaining: 20,
    });
    const expected = entries.map(([, payload]) => sha1(payload)).reverse();
    expect(digests(await channel("default"))).toEqual(expected.slice(0, 30));
  });

  it("moves at most a hundred entries a step", async ({ catalog, put }) => {
    await put("planned", ...Array.from({ length: 130 }, (_, i) => [i, ownEnvelope(`job-${i}`)] as const));
    const step = await catalog.requeueStep("planned", { skip: 0, most: 1000 });
    expect(step).toEqual({ requeued: 100, kept: 0, remaining: 30 });
  });

  it("puts jobs into channels with odd names", async ({ catalog, put, channel }) => {
    const entries = oddNames.map((name, i) => {
      const make = i % 2 === 0 ? ownEnvelope : rubyEnvelope;
      return [i, make(`job-${i}`, name)] as const;
    });
    await put("planned", ...entries);
    const step = await catalog.requeueStep("planned", { skip: 0, most: 100 });
    expect(step).toEqual({ requeued: oddNames.length, kept: 0, remaining: 0 });
    for (const name of oddNames) expect((await channel(name)).length).toBe(1);
  });

  it("keeps what names no channel, and passes over it", async ({ catalog, put, set }) => {
    await put(
      "discarded",
      [1, "garbage"],
      [2, ownEnvelope("a", "free")],
      [3, "[[["],
      [4, rubyEnvelope("b", "free")],
    );
    const step = await catalog.requeueStep("discarded", { skip: 0, most: 100 });
    expect(step).toEqual({ requeued: 2, kept: 2, remaining: 0 });
    expect(await catalog.requeueStep("discarded", { skip: 2, most: 100 })).toMatchObject({ requeued: 0 });
    const results: string[] = [];
    for (const { locator } of await entriesOf(catalog, { state: "discarded" })) {
      results.push(await catalog.requeue("discarded", locator));
    }
    expect(results).toEqual(["unreadable", "unreadable"]);
    expect(digests(await set("discarded"))).toEqual(["garbage", "[[["].map(sha1));
  });
}

function purging(it: It): void {
  it("takes the oldest first and says what is left", async ({ catalog, push, put, set }) => {
    await push("default", ...Array.from({ length: 1500 }, (_, i) => ownEnvelope(`job-${i}`)));
    await put("planned", [1, ownEnvelope("planned")]);
    let removed = 0;
    for (;;) {
      const step = await catalog.purgeStep({ state: "ready", channel: "default" });
      removed += step.removed;
      expect(step.remaining).toBe(1500 - removed);
      if (step.remaining === 0) break;
      const left = await entriesOf(catalog, { state: "ready", channel: "default" });
      expect(left.at(-1)?.id).toBe(`job-${removed}`);
    }
    expect((await set("planned")).length).toBe(1);
    expect(await catalog.purgeStep({ state: "planned" })).toEqual({ removed: 1, remaining: 0 });
    expect(await catalog.purgeStep({ state: "planned" })).toEqual({ removed: 0, remaining: 0 });
  });
}

function nodes(it: It): void {
  const identity = "host~bun:7:0123456789ab";

  it("show what they stored, and that they live", async (h) => {
    await h.liveNode(identity);
    const [view] = await all((cursor) => h.catalog.nodes(cursor));
    expect(view).toMatchObject({ identity, hostname: "host", pid: process.pid, isLive: true, busy: 0 });
    expect(view?.beatAgeSeconds).toBeLessThan(60);
    expect(view?.problem).toBeUndefined();
  });

  it("are shown with the problem when their info cannot be read", async (h) => {
    await h.node({
      identity: "garbled",
      info: "{",
      busy: 2,
      isQuiet: true,
      concurrency: 4,
      beatSecondsAgo: 100,
    });
    const [view] = await all((cursor) => h.catalog.nodes(cursor));
    expect(view).toMatchObject({ busy: 2, isQuiet: true, concurrency: 4, hostname: undefined });
    expect(view?.problem).toBe("its info is not a JSON object");
    expect(view?.beatAgeSeconds).toBeGreaterThanOrEqual(100);
  });

  it("are all listed in pages", async (h) => {
    for (let i = 0; i < 230; i++) await h.node({ identity: `n${i}`, info: "{}" });
    const views = await all((cursor) => h.catalog.nodes(cursor));
    expect(new Set(views.map((view) => view.identity)).size).toBe(230);
  });

  it("take control requests in their order, at most sixteen", async (h) => {
    await h.node({ identity: "n", info: "{}" });
    for (const signal of ["TSTP", "TTIN", "TERM"] as const)
      expect(await h.catalog.signal("n", signal)).toBe(true);
    expect(await h.signals("n")).toEqual(["TSTP", "TTIN", "TERM"]);
    for (let i = 0; i < 30; i++) await h.catalog.signal("n", "TTIN");
    expect(await h.signals("n")).toEqual(Array(16).fill("TTIN"));
    expect(await h.catalog.signal("unknown", "TERM")).toBe(false);
    expect(await h.signals("unknown")).toEqual([]);
  });

  it("show what their workers run", async ({ catalog, running }) => {
    const job =
      '{"channel":"c","envelope":{"id":"a","task":"Count"},"started_at":5.5,"claim_token":"t","attempt":2}';
    await running("n", "w1", 0, job);
    await running("n", "w1", 1, "garbage");
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
  });
}

function claims(it: It): void {
  it("show the claim and its payload, and what is missing of them", async (h) => {
    await h.claim("n", 0, { id: "a", payload: ownEnvelope("a") });
    await h.emptyClaim("n", 1, "b");
    await h.claim("n", 2, { id: "c", payload: "garbage" });
    const views = await all((cursor) => h.catalog.claims("n", cursor));
    expect(views.map(({ holder }) => holder).sort()).toEqual(["w.0", "w.1", "w.2"]);
    const [full, empty, garbage] = views.toSorted((a, b) => (a.holder < b.holder ? -1 : 1));
    expect(full?.record).toEqual({
      jobId: "a",
      token: "t-a",
      channel: "default",
      claimedAt: 3.5,
      attempt: 2,
    });
    expect(full?.entry?.id).toBe("a");
    expect(empty).toMatchObject({ payloads: 0, entry: undefined });
    expect(garbage?.entry?.problem).toContain("not JSON");
    expect(await h.catalog.claim({ node: "n", holder: "w.0" })).toEqual(full!);
    expect(await h.catalog.claim({ node: "n", holder: "w.9" })).toBeUndefined();
    const held = await entriesOf(h.catalog, { state: "claimed", node: "n", holder: "w.0" });
    expect(held.map(({ id }) => id)).toEqual(["a"]);
  });

  it("are all shown when their payloads are too large for one call", async ({ catalog, claim }) => {
    for (let slot = 0; slot < 12; slot++) {
      const payload = ownEnvelope(`j${slot}`, "c", { argumentsJson: `["${"x".repeat(300_000)}"]` });
      await claim("n", slot, { id: `j${slot}`, payload });
    }
    const views = await all((cursor) => catalog.claims("n", cursor));
    expect(views.map(({ record, entry }) => record?.jobId === entry?.id)).toEqual(Array(12).fill(true));
  });

  it("of nodes that nobody lists, and payloads without a claim, are found by a survey", async (h) => {
    await h.claim("unlisted", 1, { id: "a", payload: ownEnvelope("a") });
    await h.unclaimed(ownEnvelope("stray"));
    const owners = new Set<string>();
    const strays: (string | undefined)[] = [];
    let cursor: string | undefined;
    do {
      const survey = await h.catalog.survey(cursor);
      for (const node of survey.nodes) owners.add(node);
      for (const holder of survey.holders) {
        const view = await h.catalog.claim(holder);
        if (view?.record === undefined) strays.push(view?.entry?.id);
      }
      cursor = survey.cursor;
    } while (cursor !== undefined);
    expect([...owners]).toEqual(["unlisted"]);
    expect(strays).toEqual(["stray"]);
  });
}

function userIds(it: It): void {
  it("are read in pages; a collection that does not exist holds none", async ({ catalog, ids }) => {
    const own = Array.from({ length: 2500 }, (_, i) => `id-${i}`);
    const key = await ids(own);
    const read = await all((cursor) => catalog.ids(key, cursor));
    expect([...new Set(read)].sort()).toEqual(own.sort());
    expect(await all((cursor) => catalog.ids(`${key}-none`, cursor))).toEqual([]);
  });
}
