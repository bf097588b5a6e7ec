import { expect } from "bun:test";
import { decodeEnvelope, reviseEnvelope } from "../../../src/envelope/codec.ts";
import type { Settlement } from "../../../src/store/store.ts";
import { aWorker, cycle, idsOf, job, jobs, payloads, settle } from "./harness.ts";
import type { Suite } from "./suite.ts";

export function settling({ it, engine }: Suite): void {
  it("an ack ends the job and counts it as processed", async ({ store, channel, counters, claims }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    expect(await claims(worker.node)).toHaveLength(1);
    const reply = await cycle(store, worker, { settlements: [settle(reserved[0]!, { outcome: "ack" })] });
    expect(reply.refused).toEqual([]);
    expect(reply.blocked).toEqual([]);
    expect(await channel("default")).toEqual([]);
    expect(await claims(worker.node)).toEqual([]);
    expect(await counters()).toEqual({ processed: 1, failed: 0 });
  });

  it("a drop ends the job and counts it as failed", async ({
    store,
    counters,
    claims,
    discarded,
    retries,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    await cycle(store, worker, { settlements: [settle(reserved[0]!, { outcome: "drop" })] });
    expect(await claims(worker.node)).toEqual([]);
    expect(await counters()).toEqual({ processed: 0, failed: 1 });
    expect(await discarded()).toEqual([]);
    expect(await retries()).toEqual([]);
  });

  it("a requeue puts the stored bytes back to the head of the channel and counts nothing", async ({
    store,
    channel,
    counters,
    claims,
  }) => {
    const worker = await aWorker(store);
    const [first, second, third] = [job(), job({ args: "[12345678901234567890, []]" }), job()];
    await store.publish([first, second, third]);
    const { reserved } = await cycle(store, worker, { slots: 2 });
    await cycle(store, worker, { settlements: [settle(reserved[1]!, { outcome: "requeue" })] });
    expect(await channel("default")).toEqual(payloads([second, third]));
    expect(await counters()).toEqual({ processed: 0, failed: 0 });
    expect(await claims(worker.node)).toEqual([first.id]);
  });

  it("a requeue goes to the channel the job was reserved from, whatever its name", async ({
    store,
    channel,
  }) => {
    const worker = await aWorker(store);
    const name = 'a "quoted" \\ {b}: ünï';
    const published = job({ channel: name });
    await store.publish([published]);
    const { reserved } = await cycle(store, worker, { slots: 1, channels: [{ channel: name, quota: 1 }] });
    const reply = await cycle(store, worker, { settlements: [settle(reserved[0]!, { outcome: "requeue" })] });
    expect(reply.blocked).toEqual([]);
    expect(await channel(name)).toEqual([published.payload]);
  });

  it("a retry stores the new text for its delay from the store's now, and counts a failure", async ({
    store,
    retries,
    counters,
    claims,
    nowMs,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    const payload = reviseEnvelope(reserved[0]!.raw, { failure_count: 1 });
    const before = await nowMs();
    await cycle(store, worker, {
      settlements: [settle(reserved[0]!, { outcome: "retry", delaySeconds: 12.5, payload })],
    });
    const after = await nowMs();
    const [stored, ...others] = await retries();
    expect(others).toEqual([]);
    expect(stored?.payload).toBe(payload);
    expect(stored?.atMs).toBeGreaterThanOrEqual(before + 12_499);
    expect(stored?.atMs).toBeLessThanOrEqual(after + 12_501);
    expect(await claims(worker.node)).toEqual([]);
    expect(await counters()).toEqual({ processed: 0, failed: 1 });
  });

  it("an archive stores the new text at the store's now, and counts a failure", async ({
    store,
    discarded,
    counters,
    nowMs,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    const before = await nowMs();
    const payload = reviseEnvelope(reserved[0]!.raw, { failure_count: 26 });
    await cycle(store, worker, { settlements: [settle(reserved[0]!, { outcome: "archive", payload })] });
    const [stored] = await discarded();
    expect(stored?.payload).toBe(payload);
    expect(stored?.atMs).toBeGreaterThanOrEqual(before - 1);
    expect(stored?.atMs).toBeLessThanOrEqual((await nowMs()) + 1);
    expect(await counters()).toEqual({ processed: 0, failed: 1 });
  });

  it("any mix of outcomes and new reservations goes in one call", async ({
    store,
    channel,
    retries,
    discarded,
    counters,
  }) => {
    const worker = await aWorker(store);
    const given = jobs(7);
    await store.publish(given);
    const { reserved } = await cycle(store, worker, { slots: 5 });
    const [ack, drop, requeue, retry, archive] = reserved;
    const reply = await cycle(store, worker, {
      settlements: [
        settle(ack!, { outcome: "ack" }),
        settle(drop!, { outcome: "drop" }),
        settle(requeue!, { outcome: "requeue" }),
        settle(retry!, { outcome: "retry", delaySeconds: 60, payload: retry!.raw }),
        settle(archive!, { outcome: "archive", payload: archive!.raw }),
      ],
      slots: 2,
    });
    expect(reply.refused).toEqual([]);
    expect(idsOf(reply)).toEqual([given[2]!.id, given[5]!.id]);
    expect(reply.hasStrays).toBe(false);
    expect(await channel("default")).toEqual([given[6]!.payload]);
    expect((await retries()).map(({ payload }) => payload)).toEqual([given[3]!.payload]);
    expect((await discarded()).map(({ payload }) => payload)).toEqual([given[4]!.payload]);
    expect(await counters()).toEqual({ processed: 1, failed: 3 });
  });

  it("a settlement under another token writes nothing and is told", async ({
    store,
    retries,
    counters,
    claims,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job({ id: "held" })]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    const foreign: Settlement[] = [
      { ...settle(reserved[0]!, { outcome: "ack" }), token: `${reserved[0]!.token}0` },
      { ...settle(reserved[0]!, { outcome: "retry", delaySeconds: 0, payload: "{}" }), token: "x" },
      { ...settle(reserved[0]!, { outcome: "requeue" }), token: reserved[0]!.token.slice(0, -1) },
      { ...settle(reserved[0]!, { outcome: "ack" }), slot: 9 },
    ];
    const reply = await cycle(store, worker, { settlements: foreign });
    expect(reply.refused).toEqual(foreign);
    expect(await retries()).toEqual([]);
    expect(await counters()).toEqual({ processed: 0, failed: 0 });
    expect(await claims(worker.node)).toEqual(["held"]);
  });

  it("a settlement of another worker's claim is refused", async ({ store, claims }) => {
    const worker = await aWorker(store);
    const other = await aWorker(store);
    await store.publish([job({ id: "held" })]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    const reply = await cycle(store, other, { settlements: [settle(reserved[0]!, { outcome: "ack" })] });
    expect(reply.refused).toHaveLength(1);
    expect(await claims(worker.node)).toEqual(["held"]);
  });

  it("a settlement sent again after a lost reply is refused and changes nothing", async ({
    store,
    retries,
    counters,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    const settlement = settle(reserved[0]!, {
      outcome: "retry",
      delaySeconds: 60,
      payload: reserved[0]!.raw,
    });
    await cycle(store, worker, { settlements: [settlement] });
    const again = await cycle(store, worker, { settlements: [settlement] });
    expect(again.refused).toEqual([settlement]);
    expect(await retries()).toHaveLength(1);
    expect(await counters()).toEqual({ processed: 0, failed: 1 });
  });

  it("two settlements of one claim in one call: the first counts, the second is refused", async ({
    store,
    retries,
    channel,
    counters,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    const ack = settle(reserved[0]!, { outcome: "ack" });
    const retry = settle(reserved[0]!, { outcome: "retry", delaySeconds: 0, payload: reserved[0]!.raw });
    const requeue = settle(reserved[0]!, { outcome: "requeue" });
    const reply = await cycle(store, worker, { settlements: [ack, retry, requeue, ack] });
    expect(reply.refused).toEqual([retry, requeue, ack]);
    expect(await retries()).toEqual([]);
    expect(await channel("default")).toEqual([]);
    expect(await counters()).toEqual({ processed: 1, failed: 0 });
  });

  it("a settlement whose payload is gone is refused, so that a recovered job is not ended twice", async ({
    store,
    retries,
    losePayload,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    await losePayload(worker, 0);
    const settlement = settle(reserved[0]!, { outcome: "retry", delaySeconds: 1, payload: reserved[0]!.raw });
    expect((await cycle(store, worker, { settlements: [settlement] })).refused).toEqual([settlement]);
    expect(await retries()).toEqual([]);
  });

  it("a delay that is no number blocks its settlement alone, and its claim stands", async ({
    store,
    retries,
    claims,
    counters,
  }) => {
    const worker = await aWorker(store);
    const [good, bad] = [job(), job()];
    await store.publish([good, bad]);
    const { reserved } = await cycle(store, worker, { slots: 2 });
    const settlements = [
      settle(reserved[0]!, { outcome: "ack" }),
      settle(reserved[1]!, { outcome: "retry", delaySeconds: Number.NaN, payload: bad.payload }),
    ];
    const reply = await cycle(store, worker, { settlements });
    expect(reply.blocked.map(({ settlement }) => settlement)).toEqual([settlements[1]!]);
    expect(reply.blocked[0]?.reason).toContain("finite");
    expect(await retries()).toEqual([]);
    expect(await claims(worker.node)).toEqual([bad.id]);
    expect(await counters()).toEqual({ processed: 1, failed: 0 });
  });

  it("a worker without a generation still settles by token, but reserves nothing", async ({
    store,
    claims,
    channel,
  }) => {
    const worker = await aWorker(store);
    await store.publish(jobs(2));
    const { reserved } = await cycle(store, worker, { slots: 1 });
    await store.closeForReservations(worker.node);
    const reply = await cycle(store, worker, {
      settlements: [settle(reserved[0]!, { outcome: "ack" })],
      slots: 1,
    });
    expect(reply).toMatchObject({ isCurrent: false, refused: [], reserved: [] });
    expect(await claims(worker.node)).toEqual([]);
    expect(await channel("default")).toHaveLength(1);
  });

  it("a thousand settlements and several megabytes of them go through, each once", async ({
    store,
    retries,
    counters,
  }) => {
    const worker = await aWorker(store);
    const text = "x".repeat(30_000);
    await store.publish(jobs(400));
    const reserved = [];
    for (let slot = 0; slot < 400; slot += 100) {
      const slots = Array.from({ length: 100 }, (_, i) => slot + i);
      reserved.push(...(await cycle(store, worker, { slots })).reserved);
    }
    expect(reserved).toHaveLength(400);
    const settlements = reserved.map((each, i) =>
      i % 2 === 0
        ? settle(each, { outcome: "ack" })
        : settle(each, { outcome: "retry", delaySeconds: 9, payload: reviseEnvelope(each.raw, { x: text }) }),
    );
    const reply = await cycle(store, worker, { settlements: [...settlements, ...settlements] });
    expect(reply.refused).toEqual(settlements);
    expect(await retries()).toHaveLength(200);
    expect(await counters()).toEqual({ processed: 200, failed: 200 });
  });

  it("with at-most-once a job is settled as it is reserved; later only where it goes is left", async ({
    store,
    claims,
    channel,
    counters,
    retries,
    discarded,
  }) => {
    const worker = await aWorker(store);
    await store.publish(jobs(3));
    const { reserved } = await cycle(store, worker, { slots: 3, isAtMostOnce: true });
    expect(reserved.map(({ token }) => token)).toEqual(["", "", ""]);
    expect(await claims(worker.node)).toEqual([]);
    expect(await channel("default")).toEqual([]);
    expect(await counters()).toEqual({ processed: 3, failed: 0 });
    const reply = await cycle(store, worker, {
      isAtMostOnce: true,
      settlements: [
        settle(reserved[0]!, { outcome: "ack" }),
        settle(reserved[1]!, { outcome: "retry", delaySeconds: 5, payload: reserved[1]!.raw }),
        settle(reserved[2]!, { outcome: "archive", payload: reserved[2]!.raw }),
      ],
    });
    expect(reply.refused).toEqual([]);
    expect((await retries()).map(({ payload }) => payload)).toEqual([reserved[1]!.raw]);
    expect((await discarded()).map(({ payload }) => payload)).toEqual([reserved[2]!.raw]);
    expect(await counters()).toEqual({ processed: 3, failed: 2 });
  });

  it("with at-most-once a requeue is refused: the store holds nothing to put back", async ({
    store,
    channel,
    counters,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, worker, { slots: 1, isAtMostOnce: true });
    const requeue = settle(reserved[0]!, { outcome: "requeue" });
    expect((await cycle(store, worker, { isAtMostOnce: true, settlements: [requeue] })).refused).toEqual([
      requeue,
    ]);
    expect(await channel("default")).toEqual([]);
    expect(await counters()).toEqual({ processed: 1, failed: 0 });
  });

  it("the archive is trimmed by number and by age, the oldest first and a few at a time", async () => {
    const harness = await engine.open({ discardedLimit: 10, discardedRetention: 1 });
    try {
      const { store, put, discarded, nowMs } = harness;
      const worker = await aWorker(store);
      const now = await nowMs();
      for (let i = 0; i < 50; i++)
        await put("discarded", job({ id: `old-${i}` }).payload, now - 2 * 86_400_000 + i);
      for (let i = 0; i < 50; i++) await put("discarded", job({ id: `young-${i}` }).payload, now - 1000 + i);
      const sizes = [];
      for (let i = 0; i < 6; i++) {
        await store.publish([job({ id: `new-${i}` })]);
        const { reserved } = await cycle(store, worker, { slots: 1 });
        await cycle(store, worker, {
          settlements: [settle(reserved[0]!, { outcome: "archive", payload: reserved[0]!.raw })],
        });
        sizes.push((await discarded()).length);
      }
      expect(sizes[0]).toBeLessThan(101);
      expect(sizes[0]).toBeGreaterThan(10);
      expect(sizes.at(-1)).toBe(10);
      const left = (await discarded()).map(({ payload }) => decodeEnvelope(payload).id);
      expect(left.toSorted()).toEqual(
        [
          "young-46",
          "young-47",
          "young-48",
          "young-49",
          ...[0, 1, 2, 3, 4, 5].map((i) => `new-${i}`),
        ].toSorted(),
      );
    } finally {
      await harness.close();
    }
  });
}
