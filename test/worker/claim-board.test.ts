import { expect, test } from "bun:test";
import { Board } from "../../src/worker/board.ts";
import { callBase } from "../../src/worker/claim-board.ts";

const shape = { concurrency: 2, slots: 1, lookAhead: 3, delivery: "at-least-once" } as const;

function boardOfTwo(): Board {
  const board = Board.create(shape);
  board.claims.seat(1, { executor: "w1-4", tokenBase: "abc" });
  return board;
}

test("a claim that is asked for and queued is shown with the token it has in the store", () => {
  const { claims } = boardOfTwo();
  claims.ask(1, [0, 2], 40);
  claims.queue(1, 0, 40);
  expect(claims.unbegun(1)).toMatchObject([
    { worker: 1, place: 0, state: "queued", executor: "w1-4", token: `${callBase("abc", 40)}.0` },
    { worker: 1, place: 2, state: "asked", executor: "w1-4", token: "abc.14.2" },
  ]);
  expect(claims.unbegun(0)).toEqual([]);
});

test("beginning and taking compete: only the first one acts", () => {
  const { claims } = boardOfTwo();
  claims.ask(1, [0, 1], 1);
  claims.queue(1, 0, 1);
  claims.queue(1, 1, 1);
  const [first, second] = claims.unbegun(1);
  expect(claims.begin(1, 0, 1)).toBe(true);
  expect(claims.take(first!)).toBe(false);
  expect(claims.take(second!)).toBe(true);
  expect(claims.take(second!)).toBe(false);
  expect(claims.begin(1, 1, 1)).toBe(false);
  expect([claims.isTaken(first!), claims.isTaken(second!)]).toEqual([false, true]);
  claims.free(1, 1);
  expect(claims.isTaken(second!)).toBe(false);
  expect(claims.unbegun(1)).toEqual([]);
});

test("what was taken while it was asked for stays taken when the answer comes", () => {
  const { claims } = boardOfTwo();
  claims.ask(1, [0], 9);
  expect(claims.take(claims.unbegun(1)[0]!)).toBe(true);
  claims.queue(1, 0, 9);
  expect(claims.begin(1, 0, 9)).toBe(false);
});

test("a later claim in the same place is not taken for the one that was looked at", () => {
  const { claims } = boardOfTwo();
  claims.ask(1, [0], 1);
  claims.queue(1, 0, 1);
  const [seen] = claims.unbegun(1);
  claims.begin(1, 0, 1);
  claims.ask(1, [0], 2);
  claims.queue(1, 0, 2);
  expect(claims.take(seen!)).toBe(false);
  expect(claims.begin(1, 0, 2)).toBe(true);
});

test("the numbers of calls outgrow a word", () => {
  const { claims } = boardOfTwo();
  const call = 3 * 2 ** 29 + 5;
  claims.ask(1, [0], call);
  claims.queue(1, 0, call);
  expect(claims.unbegun(1)[0]?.token).toBe(`${callBase("abc", call)}.0`);
  expect(claims.begin(1, 0, call)).toBe(true);
});

test("the conductor waits until a worker is watched, and sees each beginning", async () => {
  const { claims } = boardOfTwo();
  const waiting = claims.someWatched(60_000);
  claims.watch(1, true);
  claims.watch(1, true);
  expect(await waiting).toBe(true);
  expect([claims.isWatched(0), claims.isWatched(1)]).toEqual([false, true]);
  claims.watch(1, false);
  expect(await claims.someWatched(0)).toBe(false);
  claims.ask(1, [0], 1);
  claims.queue(1, 0, 1);
  claims.begin(1, 0, 1);
  expect(claims.begunCount(1)).toBe(1);
});

test("a new thread finds no claims, and is not watched", () => {
  const { claims } = boardOfTwo();
  claims.ask(1, [0], 1);
  claims.watch(1, true);
  claims.seat(1, { executor: "w1-5", tokenBase: "def" });
  expect(claims.unbegun(1)).toEqual([]);
  expect(claims.isWatched(1)).toBe(false);
});
