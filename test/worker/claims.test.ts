import { expect, test } from "bun:test";
import type { Reservation } from "../../src/store/store.ts";
import { Claims } from "../../src/worker/claims.ts";

const reservation = (slot: number, token: string): Reservation => ({
  slot,
  token,
  channel: "default",
  raw: "{}",
  earlierAttempts: 0,
});
const acked = { jobId: "job", settlement: { outcome: "ack" } } as const;
const retried = { jobId: "job", settlement: { outcome: "retry", delaySeconds: 1, payload: "{}" } } as const;

test("a slot is free, held, pending and free again; it may be filled in the call that settles it", () => {
  const claims = new Claims(2);
  expect(claims.slotsToFill([], 2)).toEqual([1, 0]);
  claims.hold(reservation(0, "a.0"));
  expect([claims.heldCount, claims.freeCount]).toEqual([1, 1]);
  claims.end(0, acked);
  expect(claims.known).toMatchObject([{ slot: 0, token: "a.0" }]);
  const settling = claims.takePending(0);
  expect(claims.slotsToFill(settling, 2)).toEqual([0, 1]);
  claims.settled(settling[0]!.settlement);
  expect([claims.freeCount, claims.pendingCount]).toEqual([2, 0]);
});

test("settlements without an answer are sent again, and are known to be", () => {
  const claims = new Claims(1);
  claims.hold(reservation(0, "a.0"));
  claims.end(0, acked);
  claims.putBack(claims.takePending(0), { isSent: true });
  expect(claims.takePending(0)).toMatchObject([{ isResent: true, settlement: { token: "a.0" } }]);
});

test("ended claims that the store no longer has free their slots; running ones go on", () => {
  const claims = new Claims(2);
  claims.hold(reservation(0, "a.0"));
  claims.hold(reservation(1, "a.1"));
  claims.end(0, acked);
  claims.forget([
    { slot: 0, token: "a.0" },
    { slot: 1, token: "a.1" },
  ]);
  expect([claims.freeCount, claims.heldCount, claims.pendingCount]).toEqual([1, 1, 0]);
});

test("a blocked settlement waits for its time and keeps its slot", () => {
  const claims = new Claims(1);
  claims.hold(reservation(0, "a.0"));
  claims.end(0, retried);
  claims.block(claims.takePending(0)[0]!, 1000);
  expect([claims.takePending(999).length, claims.hasDue(999), claims.freeCount]).toEqual([0, false, 0]);
  expect(claims.takePending(1000)).toHaveLength(1);
});

test("at most once: a failed job's settlement holds no slot, however long it is blocked", () => {
  const claims = new Claims(2);
  claims.hold(reservation(0, ""));
  claims.end(0, retried);
  expect(claims.freeCount).toBe(2);
  const settling = claims.takePending(0);
  expect(claims.slotsToFill(settling, 3).sort()).toEqual([0, 1]);
  claims.block(settling[0]!, 0);
  claims.hold(reservation(0, ""));
  claims.hold(reservation(1, ""));
  claims.settled(claims.takePending(0)[0]!.settlement);
  expect([claims.freeCount, claims.heldCount]).toEqual([0, 2]);
});
