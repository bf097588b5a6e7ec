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

/** Claims with one running, in place 0. */
function withOneRunning(places: number, token = "a.0"): Claims {
  const claims = new Claims(places);
  claims.add([reservation(0, token)], 1);
  claims.next();
  return claims;
}

test("a place is free, queued, running, pending and free again; it may be filled in the call that settles it", () => {
  const claims = new Claims(2);
  expect(claims.placesToFill([], 2)).toEqual([0, 1]);
  claims.add([reservation(0, "a.0")], 7);
  expect([claims.queuedCount, claims.runningCount, claims.nextCall]).toEqual([1, 0, 7]);
  expect(claims.placesToFill([], 2)).toEqual([1]);
  expect(claims.next()).toMatchObject({ call: 7, reservation: { token: "a.0" } });
  expect([claims.queuedCount, claims.runningCount, claims.nextCall]).toEqual([0, 1, 0]);
  claims.end(0, acked);
  expect(claims.known).toMatchObject([{ slot: 0, token: "a.0" }]);
  const settling = claims.takePending(0);
  expect(claims.placesToFill(settling, 2)).toEqual([0, 1]);
  claims.settled(settling[0]!.settlement);
  expect(claims.placesToFill([], 2).sort()).toEqual([0, 1]);
  expect(claims.isEmpty).toBe(true);
});

test("claims begin in the order in which they were reserved", () => {
  const claims = new Claims(3);
  claims.add([reservation(2, "a.2"), reservation(0, "a.0")], 1);
  claims.add([reservation(1, "b.1")], 2);
  const order = [claims.next(), claims.next(), claims.next()].map((next) => next?.reservation.token);
  expect(order).toEqual(["a.2", "a.0", "b.1"]);
  expect(claims.next()).toBeUndefined();
});

test("settlements without an answer are sent again, and are known to be", () => {
  const claims = withOneRunning(1);
  claims.end(0, acked);
  claims.putBack(claims.takePending(0), { isSent: true });
  expect(claims.takePending(0)).toMatchObject([{ isResent: true, settlement: { token: "a.0" } }]);
});

test("claims that the store no longer has are forgotten, ended or waiting; running ones go on", () => {
  const claims = withOneRunning(3);
  claims.add([reservation(1, "a.1"), reservation(2, "a.2")], 2);
  claims.next();
  claims.end(1, acked);
  const missing = [0, 1, 2].map((slot) => ({ slot, token: `a.${slot}` }));
  expect(claims.forget(missing).sort()).toEqual([1, 2]);
  expect([claims.runningCount, claims.queuedCount, claims.pendingCount]).toEqual([1, 0, 0]);
  expect(claims.next()).toBeUndefined();
});

test("a blocked settlement waits for its time and keeps its place", () => {
  const claims = withOneRunning(1);
  claims.end(0, retried);
  claims.block(claims.takePending(0)[0]!, 1000);
  expect(claims.takePending(999)).toEqual([]);
  expect([claims.hasDue(999), claims.placesToFill([], 1).length]).toEqual([false, 0]);
  expect(claims.takePending(1000)).toHaveLength(1);
});

test("at most once: a failed job's settlement holds no place, however long it is blocked", () => {
  const claims = withOneRunning(2, "");
  claims.end(0, retried);
  const settling = claims.takePending(0);
  expect(claims.placesToFill(settling, 3).sort()).toEqual([0, 1]);
  claims.block(settling[0]!, 0);
  claims.add([reservation(0, ""), reservation(1, "")], 2);
  claims.settled(claims.takePending(0)[0]!.settlement);
  expect(claims.placesToFill([], 2)).toEqual([]);
  expect(claims.queuedCount).toBe(2);
});

test("what ends while settlements are under way is not among them", () => {
  const claims = withOneRunning(2);
  const settling = claims.takePending(0);
  claims.end(0, acked);
  expect(settling).toEqual([]);
  expect(claims.takePending(0)).toHaveLength(1);
});
