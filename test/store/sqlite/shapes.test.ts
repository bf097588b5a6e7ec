import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { encodeEnvelope } from "../../../src/envelope/codec.ts";
import { envelopeShape, idTextOf } from "../../../src/envelope/parts.ts";
import { requeued } from "../../../src/store/sqlite/head.ts";
import type { Publication } from "../../../src/store/store.ts";
import { aWorker, cycle, job, settle } from "../conformance/harness.ts";
import { type SqliteHarness, sqliteHarness } from "./harness.ts";

let harness: SqliteHarness;
beforeEach(async () => {
  harness = await sqliteHarness();
});
afterEach(() => harness.close());

const nowMs = 1_790_000_000_123;
const usual = { id: "usual", task: "Mail", channel: "default", argumentsJson: "[1]", maxFailures: 25, nowMs };

/** Our own envelopes in all their forms, and one whose parts nobody knows. */
function publications(): Publication[] {
  const own = [
    usual,
    { ...usual, argumentsJson: "[]" },
    { ...usual, argumentsJson: '["ü\\u0000\\ud800 ]}","arguments\\":[",{"id":"x","created_ms":1}]' },
    { ...usual, argumentsJson: `["${"x".repeat(5000)}"]` },
    { ...usual, id: 'a "quoted" \\ id' },
    { ...usual, id: "ü 🚀" },
    { ...usual, task: 'a "task" \\ ü' },
    { ...usual, nowMs: 0 },
    { ...usual, nowMs: 9_000_000_000_000_000 },
    { ...usual, maxFailures: 0, retryWithin: 60.5, retryChannel: 'slow "x"' },
    { ...usual, barrier: "ab12" },
  ].map((fields, i) => {
    const id = fields.id === usual.id ? `own-${i}` : fields.id;
    const { argumentsJson } = fields;
    const parts = { shape: envelopeShape(fields), idText: idTextOf(id), nowMs: fields.nowMs, argumentsJson };
    return { id, channel: fields.channel, parts, payload: encodeEnvelope({ ...fields, id }) };
  });
  const unknown = encodeEnvelope({ ...usual, id: "unknown" });
  return [...own, { id: "unknown", channel: "default", payload: unknown }];
}

describe("envelopes that are stored in parts", () => {
  test("come back to the byte, from the store, the catalog's view and a requeue", async () => {
    const given = publications();
    await harness.store.publish(given);
    const texts = given.map(({ payload }) => payload);
    expect(await harness.channel("default")).toEqual(texts);
    const worker = await aWorker(harness.store);
    const { reserved } = await cycle(harness.store, worker, { slots: given.length });
    expect(reserved.map(({ raw }) => raw)).toEqual(texts);
    for (const [i, claim] of reserved.entries()) {
      const bytes = await harness.store.claimedBytes(worker, claim);
      expect(Buffer.from(bytes ?? []).toString()).toBe(texts[i]!);
    }
    await cycle(harness.store, worker, {
      settlements: reserved.map((claim) => settle(claim, { outcome: "requeue" })),
    });
    expect(await harness.channel("default")).toEqual(texts);
  });

  test("share one row for what a task's have in common, whoever publishes them", async () => {
    const another = await harness.another();
    for (const store of [harness.store, another, harness.store]) {
      await store.publish(Array.from({ length: 25 }, () => job()));
    }
    const shapes = harness.database.query("SELECT count(*) AS n FROM shapes").get();
    expect(shapes).toEqual({ n: 1 });
    const whole = harness.database.query("SELECT count(*) AS n FROM ready WHERE shape IS NULL").get();
    expect(whole).toEqual({ n: 0 });
    expect(await harness.channel("default")).toHaveLength(75);
  });

  test("are stored whole once a file holds 4096 shapes, and are the same all the same", async () => {
    const add = harness.database.query(
      "INSERT INTO shapes (after_id, after_queued, after_created) VALUES (?, '', '')",
    );
    harness.database.transaction(() => {
      for (let i = 0; i < 4096; i++) add.run(String(i));
    })();
    const given = job();
    await harness.store.publish([given]);
    expect(harness.database.query("SELECT shape FROM ready").get()).toEqual({ shape: null });
    expect(await harness.channel("default")).toEqual([given.payload]);
  });

  test("are not written under the number of a shape that was rolled back", async () => {
    const { store, database, channel } = harness;
    database.run(
      "CREATE TRIGGER refuse BEFORE INSERT ON ready WHEN new.id = 'boom' BEGIN SELECT raise(ABORT, 'refused'); END",
    );
    await expect(store.publish([job(), job({ id: "boom" })])).rejects.toMatchObject({ code: "STORE_ERROR" });
    const other = job({ channel: "a" });
    await (await harness.another()).publish([other]);
    const mine = job();
    await store.publish([mine]);
    expect(await channel("a")).toEqual([other.payload]);
    expect(await channel("default")).toEqual([mine.payload]);
  });
});

describe("a large envelope", () => {
  const large = () => job({ args: `["${"x".repeat(10_000)}"]` });
  const bodies = () => harness.database.query<{ n: number }, []>("SELECT count(*) AS n FROM bodies").get()?.n;

  test("leaves nothing behind, however its job ends", async () => {
    const { store } = harness;
    const worker = await aWorker(store);
    const given = Array.from({ length: 5 }, large);
    await store.publish(given);
    expect(bodies()).toBe(5);
    const { reserved } = await cycle(store, worker, { slots: 5 });
    const payload = String(requeued(given[2]!.payload, nowMs));
    await cycle(store, worker, {
      settlements: [
        settle(reserved[0]!, { outcome: "ack" }),
        settle(reserved[1]!, { outcome: "drop" }),
        settle(reserved[2]!, { outcome: "retry", delaySeconds: 0, payload }),
        settle(reserved[3]!, { outcome: "archive", payload: given[3]!.payload }),
        settle(reserved[4]!, { outcome: "requeue" }),
      ],
    });
    expect(bodies()).toBe(1);
    expect(await harness.channel("default")).toEqual([given[4]!.payload]);
    expect((await store.promoteDue()).retries).toBe(1);
    expect(bodies()).toBe(2);
    const once = await cycle(store, worker, { slots: 5, isAtMostOnce: true });
    expect(once.reserved).toHaveLength(2);
    expect(bodies()).toBe(0);
  });
});
