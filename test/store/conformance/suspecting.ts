import { expect } from "bun:test";
import type { CycleReply, Executor, Reservation, Store, Suspicion } from "../../../src/store/store.ts";
import { aWorker, cycle, idsOf, job, settle } from "./harness.ts";
import type { Suite } from "./suite.ts";

/** A new node reserves what comes next, `slots` of it. */
async function reserves(store: Store, slots = 1): Promise<{ worker: Executor; reply: CycleReply }> {
  const worker = await aWorker(store);
  return { worker, reply: await cycle(store, worker, { slots }) };
}

async function dies(store: Store, { node }: Executor): Promise<readonly { crashes: number }[]> {
  return (await store.recover({ identity: node, judge: node, isProven: true })).recovered;
}

/** A job whose nodes died while it ran until it was a suspect. */
async function aSuspect(store: Store, fields?: Parameters<typeof job>[0]) {
  const suspect = job(fields);
  await store.publish([suspect]);
  for (let death = 1; death <= 2; death++) await dies(store, (await reserves(store)).worker);
  return suspect;
}

async function theNext(
  store: Store,
): Promise<{ worker: Executor; reservation: Reservation; suspicion: Suspicion | undefined }> {
  const { worker, reply } = await reserves(store);
  const reservation = reply.reserved[0] as Reservation;
  return { worker, reservation, suspicion: reservation.suspicion };
}

async function diesAlone(store: Store): Promise<void> {
  const { worker, reservation } = await theNext(store);
  expect(await store.beginAlone(worker, reservation)).toBe(true);
  await dies(store, worker);
}

const none = undefined;
const suspected = { crashes: 2, isPoison: false, waits: 0 };

export function suspecting({ it }: Suite): void {
  it("a job is a suspect from its second crash on, and no other is", async ({ store, crashes }) => {
    const innocent = job();
    const given = await aSuspect(store);
    await store.publish([innocent]);
    const { reply } = await reserves(store, 2);
    expect(idsOf(reply)).toEqual([given.id, innocent.id]);
    expect(reply.reserved.map(({ suspicion }) => suspicion)).toEqual([suspected, none]);
    expect(await crashes(given.id)).toBe(2);
  });

  it("one crash makes no suspect", async ({ store }) => {
    await store.publish([job()]);
    await dies(store, (await reserves(store)).worker);
    expect((await theNext(store)).suspicion).toBe(none);
  });

  it("a suspect's claim counts no crash before it has begun alone", async ({ store, crashes }) => {
    const { id } = await aSuspect(store);
    for (let death = 1; death <= 2; death++) {
      const { worker, suspicion } = await theNext(store);
      expect(suspicion).toEqual(suspected);
      expect(await dies(store, worker)).toEqual([expect.objectContaining({ crashes: 2 })]);
    }
    expect(await crashes(id)).toBe(2);
  });

  it("a suspect that dies alone is poison, and stays it however often its nodes die", async ({ store }) => {
    await aSuspect(store);
    await diesAlone(store);
    for (let death = 1; death <= 2; death++) {
      const { worker, suspicion } = await theNext(store);
      expect(suspicion).toEqual({ crashes: 3, isPoison: true, waits: 0 });
      await dies(store, worker);
    }
  });

  it("a suspect that was reserved ahead and begun alone is poison all the same", async ({ store }) => {
    await aSuspect(store);
    const worker = await aWorker(store);
    const { reserved } = await cycle(store, worker, { slots: 1, ahead: 1 });
    expect(await store.beginAlone(worker, reserved[0]!)).toBe(true);
    await dies(store, worker);
    expect((await theNext(store)).suspicion?.isPoison).toBe(true);
  });

  it("what leaves cleanly while it ran alone is no poison", async ({ store }) => {
    await aSuspect(store);
    const { worker, reservation } = await theNext(store);
    await store.beginAlone(worker, reservation);
    await store.leave(worker.node);
    expect((await theNext(store)).suspicion).toEqual(suspected);
  });

  it("beginning alone may be told again, and not by a token or generation that is gone", async ({
    store,
  }) => {
    await aSuspect(store);
    const { worker, reservation } = await theNext(store);
    const { slot } = reservation;
    expect(await store.beginAlone(worker, { slot, token: "another.0" })).toBe(false);
    expect(await store.beginAlone({ ...worker, generation: "g0" }, reservation)).toBe(false);
    expect(await store.beginAlone(worker, reservation)).toBe(true);
    expect(await store.beginAlone(worker, reservation)).toBe(true);
    await cycle(store, worker, { settlements: [settle(reservation, { outcome: "requeue" })] });
    expect(await store.beginAlone(worker, reservation)).toBe(false);
    expect((await theNext(store)).suspicion).toEqual(suspected);
  });

  it("the death of a thread counts as that of a node: in company, waiting, and alone", async ({
    store,
    crashes,
  }) => {
    const given = job();
    await store.publish([given]);
    for (let death = 1; death <= 4; death++) {
      const { worker, reservation } = await theNext(store);
      if (death === 4) await store.beginAlone(worker, reservation);
      const told = await store.revoke(worker.node, worker.executor, { isCrash: true });
      const standing = [none, none, "waiting", "alone"][death - 1];
      expect(told[0]?.standing).toBe(standing as never);
      // Once more, as after a lost reply: nothing is counted twice, and the same is told.
      const again = await store.revoke(worker.node, worker.executor, { isCrash: true });
      expect(again[0]?.standing).toBe(standing as never);
      await cycle(store, worker, { settlements: [settle(reservation, { outcome: "requeue" })] });
      expect(await crashes(given.id)).toBe([1, 2, 2, 3][death - 1]!);
    }
    expect((await theNext(store)).suspicion).toEqual({ crashes: 3, isPoison: true, waits: 0 });
  });

  for (const outcome of ["ack", "drop", "archive"] as const) {
    it(`suspicion and crashes end with the job: ${outcome}`, async ({ store, crashes }) => {
      const given = await aSuspect(store);
      const { worker, reservation } = await theNext(store);
      const ending = outcome === "archive" ? { outcome, payload: reservation.raw } : { outcome };
      const { refused } = await cycle(store, worker, { settlements: [settle(reservation, ending)] });
      expect(refused).toEqual([]);
      expect(await crashes(given.id)).toBe(0);
      await store.publish([given]);
      expect((await theNext(store)).suspicion).toBe(none);
    });
  }

  it("a job that its thread's death made a suspect and that is archived at once is none any more", async ({
    store,
    crashes,
  }) => {
    const given = job();
    await store.publish([given]);
    await dies(store, (await reserves(store)).worker);
    const { worker, reservation } = await theNext(store);
    await store.revoke(worker.node, worker.executor, { isCrash: true });
    const archived = settle(reservation, { outcome: "archive", payload: reservation.raw });
    await cycle(store, worker, { settlements: [archived] });
    expect(await crashes(given.id)).toBe(0);
    await store.publish([given]);
    expect((await theNext(store)).suspicion).toBe(none);
  });

  it("a retry keeps the suspicion, and so does what was put back", async ({ store }) => {
    await aSuspect(store);
    const first = await theNext(store);
    const retry = { outcome: "retry", delaySeconds: 0, payload: first.reservation.raw } as const;
    await cycle(store, first.worker, { settlements: [settle(first.reservation, retry)] });
    await store.promoteDue();
    const second = await theNext(store);
    expect(second.suspicion).toEqual(suspected);
    await cycle(store, second.worker, { settlements: [settle(second.reservation, { outcome: "requeue" })] });
    const third = await theNext(store);
    expect(third.suspicion).toEqual(suspected);
    await store.reconcile(third.worker, "g2", [], 1);
    expect((await theNext(store)).suspicion).toEqual(suspected);
  });

  it("what is postponed waits among the retries as it was stored, is counted nowhere, and has waited once more", async ({
    store,
    retries,
    counters,
    nowMs,
    claims,
  }) => {
    const suspect = await aSuspect(store, { args: '[[],{},12345678901234567890,"ü"]' });
    const { worker, reservation } = await theNext(store);
    const before = await nowMs();
    const postponed = settle(reservation, { outcome: "postpone", delaySeconds: 60 });
    const { refused } = await cycle(store, worker, { settlements: [postponed] });
    expect(refused).toEqual([]);
    const [waiting] = await retries();
    expect(waiting?.payload).toBe(suspect.payload);
    expect(waiting!.atMs - before).toBeGreaterThanOrEqual(60_000 - 1);
    expect(waiting!.atMs - before).toBeLessThan(70_000);
    expect(await counters()).toEqual({ processed: 0, failed: 0 });
    expect(await claims(worker.node)).toEqual([]);
    // Sent again, as after a lost reply.
    expect((await cycle(store, worker, { settlements: [postponed] })).refused).toEqual([postponed]);
    expect(await retries()).toHaveLength(1);
  });

  it("each postponement of a suspect is counted; any claim may be postponed", async ({ store }) => {
    await aSuspect(store);
    for (let waits = 0; waits < 3; waits++) {
      const { worker, reservation, suspicion } = await theNext(store);
      expect(suspicion).toEqual({ crashes: 2, isPoison: false, waits });
      const postponed = settle(reservation, { outcome: "postpone", delaySeconds: 0 });
      await cycle(store, worker, { settlements: [postponed] });
      expect(await store.promoteDue()).toMatchObject({ retries: 1 });
    }
    const suspect = await theNext(store);
    await cycle(store, suspect.worker, { settlements: [settle(suspect.reservation, { outcome: "ack" })] });
    await store.publish([job()]);
    const innocent = await theNext(store);
    const postponed = settle(innocent.reservation, { outcome: "postpone", delaySeconds: 0 });
    expect((await cycle(store, innocent.worker, { settlements: [postponed] })).refused).toEqual([]);
    expect((await store.promoteDue()).retries).toBe(1);
    expect((await theNext(store)).suspicion).toBe(none);
  });

  it("acknowledgements beside a suspect's settle as ever", async ({ store, counters, crashes }) => {
    const suspect = await aSuspect(store);
    await store.publish([job(), job()]);
    const { worker, reply } = await reserves(store, 3);
    const settlements = reply.reserved.map((reservation) => settle(reservation, { outcome: "ack" }));
    expect((await cycle(store, worker, { settlements, slots: 3 })).refused).toEqual([]);
    expect(await counters()).toEqual({ processed: 3, failed: 0 });
    expect(await crashes(suspect.id)).toBe(0);
  });

  it("at most once nobody is suspected: a job that is settled when it is reserved cannot be poison", async ({
    store,
  }) => {
    await aSuspect(store);
    const worker = await aWorker(store);
    const { reserved } = await cycle(store, worker, { slots: 1, isAtMostOnce: true });
    expect(reserved[0]).toMatchObject({ token: "" });
    expect(reserved[0]?.suspicion).toBe(none);
  });
}
