import { expect } from "bun:test";
import { aWorker, cycle, job, jobs, nodeRecord } from "./harness.ts";
import type { Suite } from "./suite.ts";

const calm = { busy: 0, isQuiet: false, isNewServer: false };

export function living({ it }: Suite): void {
  it("a registered node is sighted with what proves its death", async ({ store }) => {
    await store.register(nodeRecord("a~bun:1:000000000001"));
    await store.register(
      nodeRecord("b~bun:2:000000000002", { bootId: "", pidNamespace: "", pidStarted: "", pid: 9 }),
    );
    const { nodes, cursor } = await store.sightNodes();
    expect(cursor).toBeUndefined();
    expect(nodes.toSorted((a, b) => a.identity.localeCompare(b.identity))).toEqual([
      {
        identity: "a~bun:1:000000000001",
        bootId: "boot",
        pidNamespace: "pid:[1]",
        pidStarted: "77",
        pid: 4242,
      },
      { identity: "b~bun:2:000000000002", pid: 9 },
    ]);
  });

  it("a registration sent again is the same one", async ({ store, isNodeStored }) => {
    const node = nodeRecord("a~bun:1:000000000001");
    await store.register(node);
    await store.register(node);
    expect(await isNodeStored(node.identity)).toBe(true);
  });

  it("an identity that is taken, or declared dead, is refused", async ({ store, another }) => {
    const node = nodeRecord("a~bun:1:000000000001");
    await store.register(node);
    const other = await another();
    await expect(other.register({ ...node, pid: 5 })).rejects.toMatchObject({ code: "STORE_ERROR" });
  });

  it("all nodes are sighted, page by page", async ({ store }) => {
    const identities = Array.from({ length: 700 }, (_, i) => `n${i}~bun:1:000000000000`);
    await Promise.all(identities.map((identity) => store.register(nodeRecord(identity))));
    const seen = new Set<string>();
    let cursor: string | undefined;
    do {
      const page = await store.sightNodes(cursor);
      for (const { identity } of page.nodes) seen.add(identity);
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect([...seen].toSorted()).toEqual(identities.toSorted());
  });

  it("a beat is accepted and tells how long it has been steady and silent", async ({
    store,
    setBeat,
    nowMs,
  }) => {
    const { node } = await aWorker(store);
    const first = await store.beat(node, calm);
    expect(first).toMatchObject({ isAlive: true });
    expect(first.steadyMs).toBeLessThan(5000);
    expect(Math.abs(first.nowMs - (await nowMs()))).toBeLessThan(1000);
    await setBeat(node, { secondsAgo: 3, steadySeconds: 30 });
    const steady = await store.beat(node, calm);
    expect(steady.steadyMs).toBeGreaterThanOrEqual(30_000);
    expect(steady.steadyMs).toBeLessThan(35_000);
    expect(steady.silentMs).toBeGreaterThanOrEqual(3000);
    expect(steady.silentMs).toBeLessThan(6000);
  });

  it("a gap between beats, and a new server, make the steadiness begin anew", async ({ store, setBeat }) => {
    const { node } = await aWorker(store);
    await setBeat(node, { secondsAgo: 20, steadySeconds: 300 });
    const afterGap = await store.beat(node, calm);
    expect(afterGap).toMatchObject({ isAlive: true, steadyMs: 0 });
    expect(afterGap.silentMs).toBeGreaterThanOrEqual(20_000);
    await setBeat(node, { secondsAgo: 1, steadySeconds: 300 });
    expect(await store.beat(node, { ...calm, isNewServer: true })).toMatchObject({
      isAlive: true,
      steadyMs: 0,
    });
  });

  it("a beat in the future counts as now", async ({ store, setBeat }) => {
    const { node } = await aWorker(store);
    await setBeat(node, { secondsAgo: -500, steadySeconds: -400 });
    expect(await store.beat(node, calm)).toMatchObject({ isAlive: true, steadyMs: 0, silentMs: 0 });
  });

  it("beats of a node that is gone, or never was, are refused", async ({ store, isNodeStored }) => {
    expect(await store.beat("never~bun:1:000000000000", calm)).toMatchObject({ isAlive: false });
    const { node } = await aWorker(store);
    await store.leave(node);
    expect(await store.beat(node, calm)).toMatchObject({ isAlive: false });
    expect(await isNodeStored(node)).toBe(false);
  });

  it("a node whose name was taken off the list learns it by its next beat", async ({ store, spoilNode }) => {
    const { node } = await aWorker(store);
    await spoilNode(node, "name");
    expect(await store.beat(node, calm)).toMatchObject({ isAlive: false });
  });

  it("workers of a node that is gone are granted nothing", async ({ store }) => {
    const worker = await aWorker(store);
    await store.leave(worker.node);
    expect(await store.grant(worker)).toBe(false);
    expect(await store.grant({ ...worker, node: "never~bun:1:000000000000" })).toBe(false);
    await store.publish([job()]);
    expect(await cycle(store, worker, { slots: 1 })).toMatchObject({ isCurrent: false, reserved: [] });
  });

  it("revoking takes one worker's generation, tells its claims, and leaves them to be settled", async ({
    store,
    crashes,
  }) => {
    const worker = await aWorker(store);
    const neighbour = { ...worker, executor: "w00" };
    await store.grant(neighbour);
    const given = jobs(3);
    await store.publish(given);
    const { reserved } = await cycle(store, worker, { slots: 2 });
    await cycle(store, neighbour, { slots: 1 });
    const claims = await store.revoke(worker.node, worker.executor, { isCrash: false });
    expect(claims.toSorted((a, b) => a.slot - b.slot)).toMatchObject(
      reserved.map(({ slot, token }, i) => ({
        slot,
        token,
        jobId: given[i]!.id,
        channel: "default",
        attempt: 1,
      })),
    );
    expect(await crashes(given[0]!.id)).toBe(0);
    expect(await cycle(store, worker, { slots: [5] })).toMatchObject({ isCurrent: false });
    expect(await cycle(store, neighbour, { slots: [5] })).toMatchObject({ isCurrent: true });
    const settlements = claims.map(({ slot, token, jobId }) => ({
      slot,
      token,
      jobId,
      outcome: "ack" as const,
    }));
    expect((await cycle(store, worker, { settlements })).refused).toEqual([]);
  });

  it("a crash is counted once for each job the worker held, also when the call is sent again", async ({
    store,
    crashes,
  }) => {
    const worker = await aWorker(store);
    const given = jobs(2);
    await store.publish(given);
    await cycle(store, worker, { slots: 1 });
    const first = await store.revoke(worker.node, worker.executor, { isCrash: true });
    const second = await store.revoke(worker.node, worker.executor, { isCrash: true });
    expect(second).toEqual(first);
    expect(await crashes(given[0]!.id)).toBe(1);
    expect(await crashes(given[1]!.id)).toBe(0);
  });

  it("a crash is counted only for the slots that are said to have run", async ({ store, crashes }) => {
    const worker = await aWorker(store);
    const given = jobs(3);
    await store.publish(given);
    const { reserved } = await cycle(store, worker, { slots: 3 });
    const claims = await store.revoke(worker.node, worker.executor, { isCrash: true, running: [1] });
    expect(claims).toHaveLength(3);
    const ran = reserved.find(({ slot }) => slot === 1)?.raw;
    const counted = await Promise.all(given.map(({ id }) => crashes(id)));
    expect(counted).toEqual(given.map(({ payload }) => (payload === ran ? 1 : 0)));
  });

  it("a crash is counted for all claims but those that are spared", async ({ store, crashes }) => {
    const worker = await aWorker(store);
    const given = jobs(3);
    await store.publish(given);
    const { reserved } = await cycle(store, worker, { slots: 3 });
    const spared = reserved.slice(0, 2).map(({ token }) => token);
    await store.revoke(worker.node, worker.executor, { isCrash: true, spared });
    expect(await Promise.all(given.map(({ id }) => crashes(id)))).toEqual([0, 0, 1]);
  });

  it("leaving requeues what is left, uncounted, and removes the node", async ({
    store,
    channel,
    crashes,
    counters,
    claims,
    isNodeStored,
  }) => {
    const worker = await aWorker(store);
    const given = jobs(3);
    await store.publish(given);
    await cycle(store, worker, { slots: 2 });
    expect(await store.leave(worker.node)).toEqual({ requeued: 2 });
    expect((await channel("default")).toSorted()).toEqual(given.map(({ payload }) => payload).toSorted());
    expect(await claims(worker.node)).toEqual([]);
    expect(await crashes(given[0]!.id)).toBe(0);
    expect(await counters()).toEqual({ processed: 0, failed: 0 });
    expect(await isNodeStored(worker.node)).toBe(false);
    expect((await store.sightNodes()).nodes).toEqual([]);
    expect(await store.leave(worker.node)).toEqual({ requeued: 0 });
  });

  it("after leaving a late command finds no claim and reserves nothing", async ({
    store,
    channel,
    retries,
  }) => {
    const worker = await aWorker(store);
    await store.publish([job({ id: "a" })]);
    const { reserved } = await cycle(store, worker, { slots: 1 });
    await store.leave(worker.node);
    const late = { slot: 0, token: reserved[0]!.token, jobId: "a" };
    const reply = await cycle(store, worker, {
      settlements: [{ ...late, outcome: "retry", delaySeconds: 0, payload: reserved[0]!.raw }],
      slots: 1,
    });
    expect(reply.refused).toHaveLength(1);
    expect(reply).toMatchObject({ isCurrent: false, reserved: [] });
    expect(await channel("default")).toHaveLength(1);
    expect(await retries()).toEqual([]);
  });

  it("signals left for a node are taken once, the oldest first; what is no signal is dropped", async ({
    store,
    signal,
  }) => {
    const { node } = await aWorker(store);
    await signal(node, "TTIN");
    await signal(node, "nonsense");
    await signal(node, "TSTP");
    await signal(node, "TERM");
    expect(await store.takeSignals(node)).toEqual(["TTIN", "TSTP", "TERM"]);
    expect(await store.takeSignals(node)).toEqual([]);
  });

  it("a worker shows what it runs, and only that", async ({ store }) => {
    const worker = await aWorker(store);
    const running = {
      slot: 0,
      token: "t",
      channel: "default",
      envelopeJson: '{"id":"a"}',
      startedAtMs: 5,
      attempt: 1,
    };
    await store.showRunning(worker, [running, { ...running, slot: 1 }]);
    await store.showRunning(worker, []);
    await store.showRunning(worker, []);
  });

  it("the server is the same as long as it runs", async ({ store, another }) => {
    expect(await store.serverIdentity()).toBe(await (await another()).serverIdentity());
  });
}
