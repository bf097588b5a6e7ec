import { expect } from "bun:test";
import type { CycleReply } from "../../../src/store/store.ts";
import { aWorker, cycle, idsOf, job, jobs, payloads, settle } from "./harness.ts";
import type { Suite } from "./suite.ts";

function references(reply: CycleReply) {
  return reply.reserved.map(({ slot, token }) => ({ slot, token }));
}

export function reconciling({ it }: Suite): void {
  it("keeps what the worker knows and moves it to its new generation", async ({ store, claims }) => {
    const worker = await aWorker(store);
    await store.publish(jobs(3));
    const known = references(await cycle(store, worker, { slots: 2 }));
    expect(await store.reconcile(worker, "g2", known, 4)).toEqual({
      isCurrent: true,
      missing: [],
      requeued: 0,
    });
    expect(await claims(worker.node)).toHaveLength(2);
    expect((await cycle(store, worker, { slots: [2] })).isCurrent).toBe(false);
    expect((await cycle(store, { ...worker, generation: "g2" }, { slots: [2] })).reserved).toHaveLength(1);
  });

  it("requeues a claim the worker does not know, uncounted", async ({
    store,
    claims,
    channel,
    counters,
    crashes,
  }) => {
    const worker = await aWorker(store);
    const [kept, lost, waiting] = [job(), job(), job()];
    await store.publish([kept, lost, waiting]);
    const [known] = references(await cycle(store, worker, { slots: 2 }));
    expect(await store.reconcile(worker, "g2", [known!], 2)).toEqual({
      isCurrent: true,
      missing: [],
      requeued: 1,
    });
    expect(await channel("default")).toEqual(payloads([lost, waiting]));
    expect(await claims(worker.node)).toEqual([kept.id]);
    expect(await counters()).toEqual({ processed: 0, failed: 0 });
    expect(await crashes(lost.id)).toBe(0);
  });

  it("requeues a claim whose token is another one, and tells that the known one is gone", async ({
    store,
    channel,
  }) => {
    const worker = await aWorker(store);
    const given = job();
    await store.publish([given]);
    await cycle(store, worker, { slots: 1 });
    const known = { slot: 0, token: "older" };
    expect(await store.reconcile(worker, "g2", [known], 1)).toEqual({
      isCurrent: true,
      missing: [known],
      requeued: 1,
    });
    expect(await channel("default")).toEqual([given.payload]);
  });

  it("requeues a payload that has no claim record, to the channel its envelope names", async ({
    store,
    channel,
    loseRecord,
  }) => {
    const worker = await aWorker(store);
    const given = job({ channel: "a:{b} ü" });
    await store.publish([given]);
    const channels = [{ channel: given.channel, quota: 1 }];
    const known = references(await cycle(store, worker, { slots: 1, channels }));
    await loseRecord(worker, 0);
    expect(await store.reconcile(worker, "g2", known, 1)).toEqual({
      isCurrent: true,
      missing: known,
      requeued: 1,
    });
    expect(await channel(given.channel)).toEqual([given.payload]);
  });

  it("removes a claim record without a payload and tells that it is gone", async ({
    store,
    claims,
    channel,
    losePayload,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const known = references(await cycle(store, worker, { slots: 1 }));
    await losePayload(worker, 0);
    expect(await store.reconcile(worker, "g2", known, 1)).toEqual({
      isCurrent: true,
      missing: known,
      requeued: 0,
    });
    expect(await claims(worker.node)).toEqual([]);
    expect(await channel("default")).toEqual([]);
  });

  it("may be sent again: the second call finds nothing left to do", async ({ store, channel }) => {
    const worker = await aWorker(store);
    await store.publish(jobs(2));
    const [known] = references(await cycle(store, worker, { slots: 2 }));
    await store.reconcile(worker, "g2", [known!], 2);
    expect(await store.reconcile(worker, "g2", [known!], 2)).toEqual({
      isCurrent: true,
      missing: [],
      requeued: 0,
    });
    expect(await channel("default")).toHaveLength(1);
  });

  it("changes nothing for a generation that is retired", async ({ store, claims }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    await cycle(store, worker, { slots: 1 });
    const replies = [await store.reconcile({ ...worker, generation: "g0" }, "gx", [], 1)];
    await store.revoke(worker.node, worker.executor, { isCrash: false });
    replies.push(await store.reconcile(worker, "g2", [], 1));
    for (const reply of replies) expect(reply).toEqual({ isCurrent: false, missing: [], requeued: 0 });
    expect(await claims(worker.node)).toHaveLength(1);
  });

  it("leaves the claims of other workers of the node alone", async ({ store, claims }) => {
    const worker = await aWorker(store);
    const neighbour = { ...worker, executor: "w00" };
    await store.grant(neighbour);
    await store.publish(jobs(2));
    const mine = references(await cycle(store, worker, { slots: 1 }));
    await cycle(store, neighbour, { slots: 1 });
    expect(await store.reconcile(worker, "g2", mine, 4)).toMatchObject({ requeued: 0 });
    expect(await claims(worker.node)).toHaveLength(2);
  });

  it("requeues many large payloads, in as many steps as it takes", async ({ store, channel }) => {
    const worker = await aWorker(store);
    const given = Array.from({ length: 6 }, () => job({ args: `["${"x".repeat(700_000)}"]` }));
    for (const [slot, each] of given.entries()) {
      await store.publish([each]);
      await cycle(store, worker, { slots: [slot] });
    }
    expect((await store.reconcile(worker, "g2", [], 6)).requeued).toBe(6);
    expect((await channel("default")).toSorted()).toEqual(payloads(given).toSorted());
  });

  it("gives a claimed payload byte for byte, also where it is not UTF-8", async ({ store, push }) => {
    const worker = await aWorker(store);
    const bytes = Buffer.from(
      '{"id":"a","task":"T","channel":"default","arguments":["\xff\xfe\x80\xc3("]}',
      "latin1",
    );
    await push("default", bytes);
    const [reserved] = (await cycle(store, worker, { slots: 1 })).reserved;
    expect(reserved?.raw).toContain("\ufffd");
    const exact = await store.claimedBytes(worker, reserved!);
    expect(Buffer.from(exact!).equals(bytes)).toBe(true);
  });

  it("gives no bytes for a token that holds nothing", async ({ store, losePayload }) => {
    const worker = await aWorker(store);
    await store.publish([job()]);
    const [reserved] = (await cycle(store, worker, { slots: 1 })).reserved;
    expect(await store.claimedBytes(worker, { slot: 0, token: "other" })).toBeUndefined();
    expect(await store.claimedBytes(worker, { slot: 5, token: reserved!.token })).toBeUndefined();
    await losePayload(worker, 0);
    expect(await store.claimedBytes(worker, reserved!)).toBeUndefined();
  });

  it("settles a payload that is not UTF-8 by its token, and a requeue keeps its bytes", async ({
    store,
    push,
  }) => {
    const worker = await aWorker(store);
    const bytes = Buffer.from('{"id":"a","task":"T","channel":"default","arguments":["\xff"]}', "latin1");
    await push("default", bytes);
    const [first] = (await cycle(store, worker, { slots: 1 })).reserved;
    const requeue = settle(first!, { outcome: "requeue" });
    const [second] = (await cycle(store, worker, { settlements: [requeue], slots: 1 })).reserved;
    expect(Buffer.from((await store.claimedBytes(worker, second!))!).equals(bytes)).toBe(true);
    const acked = await cycle(store, worker, {
      settlements: [settle(second!, { outcome: "ack" })],
      slots: 1,
    });
    expect(acked).toMatchObject({ refused: [], reserved: [], hasStrays: false });
  });

  it("after a lost reply the strays are requeued and reserved again, each job once", async ({ store }) => {
    const worker = await aWorker(store);
    const given = jobs(3);
    await store.publish(given);
    await cycle(store, worker, { slots: 2 }); // as if this reply had been lost
    await store.reconcile(worker, "g2", [], 3);
    const reply = await cycle(store, { ...worker, generation: "g2" }, { slots: 3 });
    expect(reply.hasStrays).toBe(false);
    expect(idsOf(reply).toSorted()).toEqual(given.map(({ id }) => id).toSorted());
  });
}
