import { expect } from "bun:test";
import { aWorker, cycle, idsOf, job, jobs, payloads } from "./harness.ts";
import type { Suite } from "./suite.ts";

export function publishing({ it }: Suite): void {
  it("stores jobs in the order in which they were given, first in first out", async ({
    store,
    channel,
    knownChannels,
  }) => {
    const given = jobs(5);
    await store.publish(given.slice(0, 2));
    await store.publish(given.slice(2));
    expect(await channel("default")).toEqual(payloads(given));
    expect(await knownChannels()).toEqual(["default"]);
  });

  it("stores one batch over several channels and the planned jobs", async ({
    store,
    channel,
    planned,
    knownChannels,
  }) => {
    const a = job({ channel: "a:{x} ü" });
    const b = job({ channel: "b" });
    const later = job({ channel: "c", due: { afterSeconds: 60 } });
    await store.publish([a, b, later]);
    expect(await channel("a:{x} ü")).toEqual([a.payload]);
    expect(await channel("b")).toEqual([b.payload]);
    expect((await planned()).map(({ payload }) => payload)).toEqual([later.payload]);
    expect([...(await knownChannels())].sort()).toEqual(["a:{x} ü", "b", "c"]);
  });

  it("stores nothing for an empty batch", async ({ store, knownChannels }) => {
    await store.publish([]);
    expect(await knownChannels()).toEqual([]);
  });

  it("stores a batch of 20,000 jobs whole", async ({ store, channel }) => {
    const ready = jobs(20_000);
    await store.publish(ready);
    expect(await channel("default")).toEqual(payloads(ready));
  });

  it("stores 10,000 planned jobs in one batch", async ({ store, planned }) => {
    await store.publish(jobs(10_000, { due: { afterSeconds: 60 } }));
    expect(await planned()).toHaveLength(10_000);
  });

  it("counts a delay from the store's now, and takes a point in time as it is", async ({
    store,
    planned,
    nowMs,
  }) => {
    const before = await nowMs();
    const relative = job({ due: { afterSeconds: 1.5 } });
    const absolute = job({ due: { atSeconds: 1_900_000_000.25 } });
    await store.publish([relative, absolute]);
    const after = await nowMs();
    const times = new Map((await planned()).map(({ payload, atMs }) => [payload, atMs]));
    expect(times.get(absolute.payload)).toBe(1_900_000_000_250);
    expect(times.get(relative.payload)).toBeGreaterThanOrEqual(before + 1499);
    expect(times.get(relative.payload)).toBeLessThanOrEqual(after + 1501);
  });

  it("plans a job that is due in the past, to be promoted at once", async ({ store, planned, channel }) => {
    await store.publish([job({ due: { atSeconds: 5 } })]);
    expect(await planned()).toHaveLength(1);
    expect(await channel("default")).toHaveLength(0);
  });

  it("refuses a due time that is no number and stores nothing of the batch", async ({
    store,
    planned,
    channel,
    knownChannels,
  }) => {
    for (const seconds of [Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
      const batch = [job(), job({ due: { afterSeconds: seconds } }), job({ due: { atSeconds: seconds } })];
      await expect(store.publish(batch)).rejects.toMatchObject({ code: "STORE_ERROR" });
    }
    expect(await channel("default")).toEqual([]);
    expect(await planned()).toEqual([]);
    expect(await knownChannels()).toEqual([]);
  });

  it("shows no worker a barred job until its barrier is released", async ({ store, channel }) => {
    const worker = await aWorker(store);
    const barred = job({ barrier: "b1" });
    await store.publish([barred], "b1");
    const first = await cycle(store, worker, { slots: 1 });
    expect(first.reserved).toEqual([]);
    expect(first.held).toEqual(["default"]);
    expect(await channel("default")).toEqual([barred.payload]);
    await store.releaseBarrier("b1");
    const second = await cycle(store, worker, { slots: 1 });
    expect(idsOf(second)).toEqual([barred.id]);
    expect(second.held).toEqual([]);
  });

  it("serves a job that names a barrier which does not exist", async ({ store }) => {
    const worker = await aWorker(store);
    await store.publish([job({ id: "free", barrier: "never-set" })]);
    expect(idsOf(await cycle(store, worker, { slots: 1 }))).toEqual(["free"]);
  });

  it("lets the jobs behind barred ones pass, and keeps the order of those that wait", async ({
    store,
    channel,
  }) => {
    const worker = await aWorker(store);
    const barred = jobs(100, { barrier: "b1" });
    const free = jobs(3);
    await store.publish(
      [barred[0]!, free[0]!, ...barred.slice(1, 60), free[1]!, ...barred.slice(60), free[2]!],
      "b1",
    );
    const reply = await cycle(store, worker, { slots: 5 });
    expect(idsOf(reply)).toEqual(free.map(({ id }) => id));
    expect(reply.held).toEqual([]);
    expect(await channel("default")).toEqual(payloads(barred));
  });

  it("looks past 128 barred jobs of a channel and no more in one call", async ({ store, channel }) => {
    const worker = await aWorker(store);
    const [nearest, farthest] = [job(), job()];
    const barred = jobs(128, { barrier: "b1" });
    await store.publish([...barred.slice(0, 127), nearest, ...barred.slice(127), farthest], "b1");
    const reply = await cycle(store, worker, { slots: 2 });
    expect(idsOf(reply)).toEqual([nearest.id]);
    expect(await channel("default")).toEqual(payloads([...barred, farthest]));
  });
}
