import { expect } from "bun:test";
import { decodeEnvelope } from "../../../src/envelope/codec.ts";
import { aWorker, cycle, idsOf, job, jobs, settle } from "./harness.ts";
import type { Suite } from "./suite.ts";

const kib = 1024;

/** An envelope of about this many bytes. */
function sized(bytes: number, channel?: string) {
  return job({ args: `["${"x".repeat(bytes - 220)}"]`, ...(channel === undefined ? {} : { channel }) });
}

export function cycling({ it }: Suite): void {
  it("fills the free slots in the order of publication, each claim with a token of its own", async ({
    store,
    claims,
    channel,
  }) => {
    const worker = await aWorker(store);
    const given = jobs(5);
    await store.publish(given);
    const reply = await cycle(store, worker, { slots: [3, 1, 7] });
    expect(idsOf(reply)).toEqual(given.slice(0, 3).map(({ id }) => id));
    expect(reply.reserved.map(({ slot }) => slot)).toEqual([3, 1, 7]);
    expect(reply.reserved.map(({ raw }) => raw)).toEqual(given.slice(0, 3).map(({ payload }) => payload));
    expect(new Set(reply.reserved.map(({ token }) => token)).size).toBe(3);
    expect(reply.reserved.every(({ token, channel }) => token !== "" && channel === "default")).toBe(true);
    expect((await claims(worker.node)).toSorted()).toEqual(
      given
        .slice(0, 3)
        .map(({ id }) => id)
        .toSorted(),
    );
    expect(await channel("default")).toHaveLength(2);
  });

  it("a caller may choose what the tokens begin with", async ({ store }) => {
    const worker = await aWorker(store);
    await store.publish(jobs(2));
    const { reserved } = await cycle(store, worker, { slots: [3, 0], tokenBase: "abc.7" });
    expect(reserved.map(({ slot, token }) => [slot, token])).toEqual([
      [3, "abc.7.3"],
      [0, "abc.7.0"],
    ]);
    const settlements = reserved.map((each) => settle(each, { outcome: "ack" }));
    expect((await cycle(store, worker, { settlements })).refused).toEqual([]);
  });

  it("never gives the same token twice, whoever asks", async ({ store, another }) => {
    const stores = [store, await another(), await another()];
    const tokens: string[] = [];
    for (const each of stores) {
      const worker = await aWorker(each);
      for (let i = 0; i < 20; i++) {
        await store.publish([job()]);
        const { reserved } = await cycle(each, worker, { slots: 1 });
        tokens.push(reserved[0]!.token);
        await cycle(each, worker, { settlements: [settle(reserved[0]!, { outcome: "ack" })] });
      }
    }
    expect(new Set(tokens).size).toBe(60);
  });

  it("gives each job to one of several workers that ask at once", async ({ store, another, channel }) => {
    const given = jobs(200);
    await store.publish(given);
    const stores = await Promise.all([another(), another(), another(), another()]);
    const taken = await Promise.all(
      stores.map(async (each) => {
        const worker = await aWorker(each);
        const ids: string[] = [];
        for (let round = 0; round < 10; round++) {
          const slots = Array.from({ length: 5 }, (_, i) => round * 5 + i);
          ids.push(...idsOf(await cycle(each, worker, { slots })));
        }
        return ids;
      }),
    );
    expect(taken.flat().toSorted()).toEqual(given.map(({ id }) => id).toSorted());
    expect(await channel("default")).toEqual([]);
  });

  it("fills a thousand slots in a few calls, in the order of publication", async ({ store }) => {
    const worker = await aWorker(store);
    const given = jobs(1100);
    await store.publish(given);
    const ids: string[] = [];
    for (let call = 0; call < 5 && ids.length < 1000; call++) {
      const slots = Array.from({ length: 1000 - ids.length }, (_, i) => ids.length + i);
      const reply = await cycle(store, worker, { slots });
      expect(reply.reserved.map(({ slot }) => slot)).toEqual(slots.slice(0, reply.reserved.length));
      ids.push(...idsOf(reply));
    }
    expect(ids).toEqual(given.slice(0, 1000).map(({ id }) => id));
  });

  it("finds nothing where there is nothing", async ({ store, nowMs }) => {
    const worker = await aWorker(store);
    const before = await nowMs();
    const reply = await cycle(store, worker, { slots: 2 });
    expect(reply).toMatchObject({
      reserved: [],
      held: [],
      broken: [],
      isCurrent: true,
      hasStrays: false,
      archivedAsGarbage: 0,
    });
    expect(reply.nowMs).toBeGreaterThanOrEqual(before - 1);
    expect(await cycle(store, worker, { slots: 2, channels: [] })).toMatchObject({
      reserved: [],
      isCurrent: true,
    });
  });

  it("takes each channel's quota first, in the order asked, and the rest in a second pass", async ({
    store,
  }) => {
    const worker = await aWorker(store);
    await store.publish([
      ...jobs(6, { channel: "a" }),
      ...jobs(6, { channel: "b" }),
      ...jobs(1, { channel: "c" }),
    ]);
    const channels = [
      { channel: "b", quota: 2 },
      { channel: "c", quota: 3 },
      { channel: "a", quota: 1 },
    ];
    const first = await cycle(store, worker, { slots: 4, channels });
    expect(first.reserved.map(({ channel }) => channel)).toEqual(["b", "b", "c", "a"]);
    const second = await cycle(store, worker, { slots: [4, 5, 6, 7, 8, 9], channels });
    expect(second.reserved.map(({ channel }) => channel)).toEqual(["b", "b", "a", "b", "b", "a"]);
  });

  it("serves strictly by order where the quota is not less than the slots", async ({ store }) => {
    const worker = await aWorker(store);
    await store.publish([...jobs(3, { channel: "low" }), ...jobs(2, { channel: "high" })]);
    const channels = [
      { channel: "high", quota: 4 },
      { channel: "low", quota: 4 },
    ];
    const { reserved } = await cycle(store, worker, { slots: 4, channels });
    expect(reserved.map(({ channel }) => channel)).toEqual(["high", "high", "low", "low"]);
  });

  it("takes nothing from a paused channel from the moment it is paused, and tells of it", async ({
    store,
    pause,
    resume,
    channel,
  }) => {
    const worker = await aWorker(store);
    await store.publish([...jobs(2, { channel: "a" }), ...jobs(1, { channel: "b" })]);
    await pause("a");
    const channels = [
      { channel: "a", quota: 5 },
      { channel: "b", quota: 5 },
    ];
    const paused = await cycle(store, worker, { slots: 3, channels });
    expect(paused.reserved.map(({ channel }) => channel)).toEqual(["b"]);
    expect(paused.held).toEqual(["a"]);
    expect(await channel("a")).toHaveLength(2);
    await resume("a");
    expect((await cycle(store, worker, { slots: [1, 2], channels })).reserved).toHaveLength(2);
  });

  it("stops at 1 MiB, and the next call goes on where it stopped", async ({ store, channel }) => {
    const worker = await aWorker(store);
    const given = Array.from({ length: 10 }, () => sized(300 * kib));
    await store.publish(given.slice(0, 5));
    await store.publish(given.slice(5));
    const first = await cycle(store, worker, { slots: 10 });
    expect(idsOf(first)).toEqual(given.slice(0, 3).map(({ id }) => id));
    const second = await cycle(store, worker, { slots: [3, 4, 5, 6, 7, 8, 9] });
    expect(idsOf(second)).toEqual(given.slice(3, 6).map(({ id }) => id));
    expect(await channel("default")).toEqual(given.slice(6).map(({ payload }) => payload));
  });

  it("always takes one, however large", async ({ store, channel }) => {
    const worker = await aWorker(store);
    const [huge, small] = [sized(10_240 * kib), job()];
    await store.publish([huge]);
    await store.publish([small]);
    const reply = await cycle(store, worker, { slots: 2 });
    expect(reply.reserved.map(({ raw }) => raw)).toEqual([huge.payload]);
    expect(await channel("default")).toEqual([small.payload]);
  });

  it("keeps the order where large jobs stand among small ones", async ({ store }) => {
    const worker = await aWorker(store);
    const given = [...jobs(10), sized(900 * kib), ...jobs(3), sized(900 * kib), ...jobs(2)];
    await store.publish(given.slice(0, 12));
    await store.publish(given.slice(12));
    const seen: string[] = [];
    while (seen.length < given.length) {
      const reply = await cycle(store, worker, { slots: 17 });
      expect(reply.reserved.length).toBeGreaterThan(0);
      seen.push(...idsOf(reply));
      await cycle(store, worker, {
        settlements: reply.reserved.map((each) => settle(each, { outcome: "ack" })),
      });
    }
    expect(seen).toEqual(given.map(({ id }) => id));
  });

  it("reserves nothing under a generation that is not the granted one", async ({ store, channel }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    for (const generation of ["g0", "", "G1"]) {
      const reply = await cycle(store, { ...worker, generation }, { slots: 1 });
      expect(reply).toMatchObject({ isCurrent: false, reserved: [] });
    }
    expect(await cycle(store, { ...worker, executor: "w9" }, { slots: 1 })).toMatchObject({
      isCurrent: false,
    });
    expect(await channel("default")).toHaveLength(1);
  });

  it("a late command under a generation that was replaced reserves nothing", async ({ store, channel }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    await store.grant({ ...worker, generation: "g2" });
    expect(await cycle(store, worker, { slots: 1 })).toMatchObject({ isCurrent: false, reserved: [] });
    expect(await channel("default")).toHaveLength(1);
    expect((await cycle(store, { ...worker, generation: "g2" }, { slots: 1 })).reserved).toHaveLength(1);
  });

  it("leaves a slot alone that is called free but holds a payload, and says so", async ({ store }) => {
    const worker = await aWorker(store);
    const given = jobs(3);
    await store.publish(given);
    await cycle(store, worker, { slots: 1 }); // as if this reply had been lost
    const reply = await cycle(store, worker, { slots: 2 });
    expect(reply.hasStrays).toBe(true);
    expect(reply.reserved.map(({ slot }) => slot)).toEqual([1]);
    expect(idsOf(reply)).toEqual([given[1]!.id]);
  });

  it("archives what is no envelope, with its text, and serves what stands behind it", async ({
    store,
    push,
    discarded,
    channel,
  }) => {
    const worker = await aWorker(store);
    const garbage = [
      "not json",
      "",
      "[]",
      "null",
      "{}",
      '{"id":"a","task":"T","channel":"default"}',
      '{"task":"T","channel":"default","arguments":[]}',
      '{"id":"a","channel":"default","arguments":[]}',
      '{"id":"a","task":"T","arguments":[]}',
      '{"id":7,"task":"T","channel":"default","arguments":[]}',
    ];
    for (const text of garbage) await push("default", text);
    const good = job();
    await store.publish([good]);
    const reply = await cycle(store, worker, { slots: 2 });
    expect(reply.archivedAsGarbage).toBe(garbage.length);
    expect(idsOf(reply)).toEqual([good.id]);
    expect(await channel("default")).toEqual([]);
    const archived = (await discarded()).map(({ payload }) => {
      expect(decodeEnvelope(payload)).toMatchObject({
        channel: "default",
        exceptionType: "UndecodableEnvelope",
      });
      return (JSON.parse(payload) as { raw: string }).raw;
    });
    expect(archived.toSorted()).toEqual(garbage.toSorted());
  });

  it("keeps the bytes of garbage that is not UTF-8", async ({ store, push, discarded }) => {
    const worker = await aWorker(store);
    const bytes = Uint8Array.from({ length: 256 }, (_, i) => i);
    await push("default", bytes);
    expect((await cycle(store, worker, { slots: 1 })).archivedAsGarbage).toBe(1);
    const [archived] = await discarded();
    const record = JSON.parse(archived!.payload) as { raw: string; raw_encoding: string };
    expect(record.raw_encoding).toBe("latin1");
    expect(Buffer.from(record.raw, "latin1").equals(Buffer.from(bytes))).toBe(true);
  });

  it("works through a channel of nothing but garbage in bounded steps, and reaches the job behind it", async ({
    store,
    push,
    discarded,
  }) => {
    const worker = await aWorker(store);
    for (let i = 0; i < 60; i++) await push("default", `garbage ${i} ${"\u00ff".repeat(5000)}`);
    const good = job();
    await store.publish([good]);
    const archived: number[] = [];
    let ids: string[] = [];
    while (ids.length === 0) {
      const reply = await cycle(store, worker, { slots: 1 });
      expect(reply.archivedAsGarbage + reply.reserved.length).toBeGreaterThan(0);
      archived.push(reply.archivedAsGarbage);
      ids = idsOf(reply);
    }
    expect(ids).toEqual([good.id]);
    expect(Math.max(...archived)).toBeLessThanOrEqual(16);
    expect(await discarded()).toHaveLength(60);
  });

  it("tells a foreign envelope's id and barrier from the top level only, whatever its arguments contain", async ({
    store,
    push,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job({ channel: "elsewhere", barrier: "b1" })], "b1");
    const inner = '{"id":"inner","channel":"inner","_solid_jobs_publication":"b1"}';
    await push("default", `{"task":"T", "arguments":[${inner}], "channel":"default", "id":"outer"}`);
    await push(
      "default",
      `{"task":"T","_solid_jobs_publication":"b1","arguments":[],"channel":"default","id":"barred"}`,
    );
    const reply = await cycle(store, worker, { slots: 2 });
    expect(idsOf(reply)).toEqual(["outer"]);
  });

  it("serves an envelope whose arguments are no array: the worker fails it with its reason", async ({
    store,
    push,
  }) => {
    const worker = await aWorker(store);
    await push("default", '{"id":"a","task":"T","channel":"default","arguments":"text"}');
    await push("default", '{"id":"b","task":"T","channel":"default","arguments":{}}');
    expect(idsOf(await cycle(store, worker, { slots: 2 }))).toEqual(["a", "b"]);
  });

  it("serves channels with any name", async ({ store }) => {
    const worker = await aWorker(store);
    for (const channel of ["a:b", "{}", " ", "ünï 漢", '"', "\\", "a\nb", "channel:x", "*"]) {
      const given = job({ channel });
      await store.publish([given]);
      const reply = await cycle(store, worker, { slots: 1, channels: [{ channel, quota: 1 }] });
      expect(reply.reserved).toMatchObject([{ channel, raw: given.payload }]);
      const settled = await cycle(store, worker, {
        settlements: [settle(reply.reserved[0]!, { outcome: "ack" })],
      });
      expect(settled.refused).toEqual([]);
    }
  });
}
