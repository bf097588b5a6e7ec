import { expect } from "bun:test";
import type { RecoverReply, Store } from "../../../src/store/store.ts";
import type { StoreHarness } from "./harness.ts";
import { aWorker, cycle, job, jobs, nodeRecord, settle } from "./harness.ts";
import type { Suite } from "./suite.ts";

const calm = { busy: 0, isQuiet: false, isNewServer: false };

/** A node that has beaten without a gap for a minute. */
async function aJudge({ store, setBeat }: StoreHarness): Promise<string> {
  const judge = (await aWorker(store)).node;
  await setBeat(judge, { steadySeconds: 60 });
  await store.beat(judge, calm);
  return judge;
}

async function recoverAll(store: Store, request: Parameters<Store["recover"]>[0]): Promise<RecoverReply[]> {
  const replies: RecoverReply[] = [];
  for (;;) {
    const reply = await store.recover(request);
    replies.push(reply);
    if (reply.state !== "more") return replies;
    if (replies.length > 1000) throw new Error("recovery does not end");
  }
}

export function recovering({ it }: Suite): void {
  it("by age: a node whose beat is older than its ttl is recovered, and each job counts a crash", async (harness) => {
    const { store, setBeat, channel, crashes, claims, isNodeStored } = harness;
    const judge = await aJudge(harness);
    const dead = await aWorker(store);
    const given = jobs(3);
    await store.publish(given);
    await cycle(store, dead, { slots: 2 });
    await setBeat(dead.node, { secondsAgo: 16 });
    const reply = await store.recover({ identity: dead.node, judge, isProven: false });
    expect(reply.state).toBe("done");
    expect(reply.recovered.toSorted((a, b) => a.jobId.localeCompare(b.jobId))).toEqual(
      given.slice(0, 2).map(({ id }) => ({ jobId: id, channel: "default", crashes: 1 })),
    );
    expect((await channel("default")).toSorted()).toEqual(given.map(({ payload }) => payload).toSorted());
    expect((await channel("default")).at(-1)).toBe(given[2]!.payload);
    expect(await crashes(given[0]!.id)).toBe(1);
    expect(await crashes(given[2]!.id)).toBe(0);
    expect(await claims(dead.node)).toEqual([]);
    expect(await isNodeStored(dead.node)).toBe(false);
    expect(await store.beat(dead.node, calm)).toMatchObject({ isAlive: false });
  });

  it("by age: a node within its ttl lives, also one with a ttl of its own", async (harness) => {
    const { store, setBeat, claims } = harness;
    const judge = await aJudge(harness);
    const living = await aWorker(store);
    const patient = nodeRecord("patient~bun:1:000000000000", { ttl: 600 });
    await store.register(patient);
    await store.publish([job()]);
    await cycle(store, living, { slots: 1 });
    await setBeat(living.node, { secondsAgo: 13 });
    await setBeat(patient.identity, { secondsAgo: 300 });
    for (const identity of [living.node, patient.identity]) {
      expect(await store.recover({ identity, judge, isProven: false })).toMatchObject({
        state: "alive",
        recovered: [],
      });
      expect(await store.beat(identity, calm)).toMatchObject({ isAlive: true });
    }
    expect(await claims(living.node)).toHaveLength(1);
  });

  it("by age: nobody is judged by a node that is not steady, not stored, silent or dead itself", async (harness) => {
    const { store, setBeat, claims } = harness;
    const dead = await aWorker(store);
    await store.publish([job()]);
    await cycle(store, dead, { slots: 1 });
    await setBeat(dead.node, { secondsAgo: 3600 });
    const young = (await aWorker(store)).node;
    const silent = (await aWorker(store)).node;
    await setBeat(young, { secondsAgo: 1, steadySeconds: 9 });
    await setBeat(silent, { secondsAgo: 60, steadySeconds: 600 });
    const gone = (await aWorker(store)).node;
    await store.leave(gone);
    for (const judge of [young, silent, gone, "never~bun:1:000000000000"]) {
      expect((await store.recover({ identity: dead.node, judge, isProven: false })).state).toBe("alive");
    }
    expect(await claims(dead.node)).toHaveLength(1);
  });

  it("by age: after an outage all beats are old, and each node lives on", async ({ store, setBeat }) => {
    const nodes = [(await aWorker(store)).node, (await aWorker(store)).node, (await aWorker(store)).node];
    for (const node of nodes) await setBeat(node, { secondsAgo: 300, steadySeconds: 4000 });
    const [judge, ...others] = nodes;
    expect(await store.beat(judge!, calm)).toMatchObject({ isAlive: true, steadyMs: 0 });
    for (const identity of others) {
      expect((await store.recover({ identity, judge: judge!, isProven: false })).state).toBe("alive");
      expect(await store.beat(identity, calm)).toMatchObject({ isAlive: true });
    }
  });

  it("by age: a beat in the future counts as now", async (harness) => {
    const { store, setBeat } = harness;
    const judge = await aJudge(harness);
    const { node } = await aWorker(store);
    await setBeat(node, { secondsAgo: -100_000 });
    expect((await store.recover({ identity: node, judge, isProven: false })).state).toBe("alive");
  });

  it("by age: a node without a beat is dead a ttl after somebody first looked", async (harness) => {
    const { store, setBeat, spoilNode, channel } = harness;
    const judge = await aJudge(harness);
    const dead = await aWorker(store);
    await store.publish([job()]);
    await cycle(store, dead, { slots: 1 });
    await spoilNode(dead.node, "beat");
    expect((await store.recover({ identity: dead.node, judge, isProven: false })).state).toBe("alive");
    await setBeat(dead.node, { secondsAgo: 16 });
    expect((await store.recover({ identity: dead.node, judge, isProven: false })).state).toBe("done");
    expect(await channel("default")).toHaveLength(1);
  });

  it("by age: a node without a record is dead for a steady judge", async (harness) => {
    const { store, spoilNode, channel } = harness;
    const judge = await aJudge(harness);
    const unsteady = (await aWorker(store)).node;
    const dead = await aWorker(store);
    await store.publish([job()]);
    await cycle(store, dead, { slots: 1 });
    await spoilNode(dead.node, "record");
    expect((await store.recover({ identity: dead.node, judge: unsteady, isProven: false })).state).toBe(
      "alive",
    );
    expect((await store.recover({ identity: dead.node, judge, isProven: false })).state).toBe("done");
    expect(await channel("default")).toHaveLength(1);
    expect((await store.sightNodes()).nodes.map(({ identity }) => identity)).not.toContain(dead.node);
  });

  it("with proof a node is recovered at once, by any judge", async ({ store, channel, crashes }) => {
    const dead = await aWorker(store);
    const given = job();
    await store.publish([given]);
    await cycle(store, dead, { slots: 1 });
    const judge = (await aWorker(store)).node;
    const reply = await store.recover({ identity: dead.node, judge, isProven: true });
    expect(reply).toEqual({
      ...reply,
      state: "done",
      recovered: [{ jobId: given.id, channel: "default", crashes: 1 }],
    });
    expect(await channel("default")).toEqual([given.payload]);
    expect(await crashes(given.id)).toBe(1);
  });

  it("a claim counts no crash when its worker was last heard of with work before it in hand", async ({
    store,
    crashes,
  }) => {
    const dead = await aWorker(store);
    const given = jobs(6);
    await store.publish(given);
    await cycle(store, dead, { slots: 1 });
    await cycle(store, dead, { slots: [1], ahead: 2 });
    await cycle(store, dead, { slots: [2, 3], ahead: 3 });
    const judge = (await aWorker(store)).node;
    const { recovered } = await store.recover({ identity: dead.node, judge, isProven: true });
    expect(recovered.map((each) => each.crashes).toSorted()).toEqual([0, 0, 1, 1]);
    const counted = await Promise.all(given.map(({ id }) => crashes(id)));
    expect(counted).toEqual([1, 1, 0, 0, 0, 0]);
  });

  it("a claim counts its crash when a later call told that it may have begun", async ({ store, crashes }) => {
    const dead = await aWorker(store);
    const given = jobs(2);
    await store.publish(given);
    await cycle(store, dead, { slots: 2, ahead: 7 });
    await cycle(store, dead, { slots: 0, ahead: 8 });
    const judge = (await aWorker(store)).node;
    await store.recover({ identity: dead.node, judge, isProven: true });
    expect(await Promise.all(given.map(({ id }) => crashes(id)))).toEqual([1, 1]);
  });

  it("a node that was recovered settles nothing and reserves nothing any more", async ({
    store,
    channel,
    retries,
  }) => {
    const dead = await aWorker(store);
    await store.publish([job()]);
    const { reserved } = await cycle(store, dead, { slots: 1 });
    await store.recover({ identity: dead.node, judge: dead.node, isProven: true });
    const settlement = settle(reserved[0]!, { outcome: "retry", delaySeconds: 0, payload: reserved[0]!.raw });
    const reply = await cycle(store, dead, { settlements: [settlement], slots: 1 });
    expect(reply).toMatchObject({ refused: [settlement], isCurrent: false, reserved: [] });
    expect(await retries()).toEqual([]);
    expect(await channel("default")).toHaveLength(1);
    expect(await store.reconcile(dead, "g2", [], 1)).toMatchObject({ isCurrent: false });
    expect(await store.grant(dead)).toBe(false);
  });

  it("from the first step on the node is marked: no beat, no grant, no reservation", async ({
    store,
    plantClaims,
  }) => {
    const dead = await aWorker(store);
    await plantClaims(dead.node, jobs(150));
    expect((await store.recover({ identity: dead.node, judge: dead.node, isProven: true })).state).toBe(
      "more",
    );
    expect(await store.beat(dead.node, calm)).toMatchObject({ isAlive: false });
    expect(await store.grant(dead)).toBe(false);
    expect(await cycle(store, dead, { slots: 1 })).toMatchObject({ isCurrent: false, reserved: [] });
  });

  it("10,000 claims are taken back in bounded steps, each once", async ({
    store,
    plantClaims,
    channel,
    isNodeStored,
  }) => {
    const dead = await aWorker(store);
    const given = jobs(10_000);
    await plantClaims(dead.node, given);
    const replies = await recoverAll(store, { identity: dead.node, judge: dead.node, isProven: true });
    expect(replies.at(-1)?.state).toBe("done");
    expect(Math.max(...replies.map(({ recovered }) => recovered.length))).toBeLessThanOrEqual(100);
    expect(new Set(replies.flatMap(({ recovered }) => recovered.map(({ jobId }) => jobId))).size).toBe(
      10_000,
    );
    expect((await channel("default")).toSorted()).toEqual(given.map(({ payload }) => payload).toSorted());
    expect(await isNodeStored(dead.node)).toBe(false);
  });

  it("large payloads are taken back about 1 MiB a step", async ({ store, plantClaims, channel }) => {
    const dead = await aWorker(store);
    await plantClaims(
      dead.node,
      Array.from({ length: 5 }, () => job({ args: `["${"x".repeat(800_000)}"]` })),
    );
    const replies = await recoverAll(store, { identity: dead.node, judge: dead.node, isProven: true });
    expect(Math.max(...replies.map(({ recovered }) => recovered.length))).toBeLessThanOrEqual(2);
    expect(await channel("default")).toHaveLength(5);
  });

  it("two recoverers at once: each claim comes back exactly once, its crash counted once", async ({
    store,
    another,
    plantClaims,
    channel,
    crashes,
  }) => {
    const dead = await aWorker(store);
    const given = jobs(1000);
    await plantClaims(dead.node, given);
    const stores = [store, await another(), await another()];
    const request = { identity: dead.node, judge: dead.node, isProven: true };
    const replies = (await Promise.all(stores.map((each) => recoverAll(each, request)))).flat();
    const recovered = replies.flatMap((reply) => reply.recovered);
    expect(recovered).toHaveLength(1000);
    expect(recovered.every((each) => each.crashes === 1)).toBe(true);
    expect((await channel("default")).toSorted()).toEqual(given.map(({ payload }) => payload).toSorted());
    expect(await crashes(given[500]!.id)).toBe(1);
  });

  it("a crash that was counted when the worker died is not counted again when its node does", async ({
    store,
    crashes,
  }) => {
    const dead = await aWorker(store);
    const given = job();
    await store.publish([given]);
    await cycle(store, dead, { slots: 1 });
    await store.revoke(dead.node, dead.executor, { isCrash: true });
    const { recovered } = await store.recover({ identity: dead.node, judge: dead.node, isProven: true });
    expect(recovered).toEqual([{ jobId: given.id, channel: "default", crashes: 1 }]);
    expect(await crashes(given.id)).toBe(1);
  });

  it("crashes add up over the nodes on which a job dies", async ({ store, crashes }) => {
    const given = job();
    await store.publish([given]);
    for (let death = 1; death <= 3; death++) {
      const dead = await aWorker(store);
      const { reserved } = await cycle(store, dead, { slots: 1 });
      if (death === 3) await store.beginAlone(dead, reserved[0]!);
      const { recovered } = await store.recover({ identity: dead.node, judge: dead.node, isProven: true });
      expect(recovered).toEqual([{ jobId: given.id, channel: "default", crashes: death }]);
    }
    expect(await crashes(given.id)).toBe(3);
  });

  it("claims of nodes that the list does not name are sighted as orphans and taken back", async (harness) => {
    const { store, spoilNode, plantClaims, channel } = harness;
    const judge = await aJudge(harness);
    const living = await aWorker(store);
    await store.publish([job({ channel: "busy" })]);
    await cycle(store, living, { slots: 1, channels: [{ channel: "busy", quota: 1 }] });
    const dead = await aWorker(store, { node: "gone~bun:7:aaaaaaaaaaaa" });
    const given = jobs(3);
    await plantClaims(dead.node, given);
    await spoilNode(dead.node, "name");
    await spoilNode(dead.node, "record");
    const orphans = new Map<string, string[]>();
    let cursor: string | undefined;
    do {
      const page = await store.sightOrphans(cursor);
      for (const { identity, executors } of page.orphans)
        orphans.set(identity, [...(orphans.get(identity) ?? []), ...executors]);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect([...orphans.keys()]).toEqual([dead.node]);
    const executors = orphans.get(dead.node)!;
    expect(executors).toHaveLength(3);
    const replies = await recoverAll(store, { identity: dead.node, executors, judge, isProven: false });
    expect(replies.at(-1)?.state).toBe("done");
    expect((await channel("default")).toSorted()).toEqual(given.map(({ payload }) => payload).toSorted());
  });

  it("a payload without a claim record is taken back where the caller names its executor", async ({
    store,
    loseRecord,
    channel,
  }) => {
    const dead = await aWorker(store);
    const given = job({ channel: "c" });
    await store.publish([given]);
    await cycle(store, dead, { slots: 1, channels: [{ channel: "c", quota: 1 }] });
    await loseRecord(dead, 0);
    const executors = [`${dead.executor}.0`, "never.0"];
    const reply = await store.recover({ identity: dead.node, executors, judge: dead.node, isProven: true });
    expect(reply).toMatchObject({
      state: "done",
      recovered: [{ jobId: given.id, channel: "c", crashes: 1 }],
    });
    expect(await channel("c")).toEqual([given.payload]);
  });

  it("a claim record without a payload is removed and counts nothing", async ({
    store,
    losePayload,
    crashes,
    isNodeStored,
  }) => {
    const dead = await aWorker(store);
    const given = job();
    await store.publish([given]);
    await cycle(store, dead, { slots: 1 });
    await losePayload(dead, 0);
    const reply = await store.recover({ identity: dead.node, judge: dead.node, isProven: true });
    expect(reply).toMatchObject({ state: "done", recovered: [] });
    expect(await crashes(given.id)).toBe(0);
    expect(await isNodeStored(dead.node)).toBe(false);
  });

  it("recovering what is not there ends at once", async ({ store }) => {
    const judge = (await aWorker(store)).node;
    const reply = await store.recover({ identity: "never~bun:1:000000000000", judge, isProven: true });
    expect(reply).toMatchObject({ state: "done", recovered: [] });
  });
}
