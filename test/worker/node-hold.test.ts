import { expect, test } from "bun:test";
import { Board } from "../../src/worker/board.ts";

const shape = { concurrency: 3, slots: 1, lookAhead: 0, delivery: "at-least-once" } as const;

test("one worker holds its node at a time, and only the holder frees it", () => {
  const { hold } = Board.create(shape);
  expect(hold.isHeld).toBe(false);
  expect(hold.take(1)).toBe(true);
  expect(hold.isHeld).toBe(true);
  expect([hold.take(2), hold.take(1)]).toEqual([false, false]);
  expect(hold.release(2)).toBe(false);
  expect(hold.release(1)).toBe(true);
  expect(hold.take(2)).toBe(true);
});

test("the others stand still when each of them says so, whatever the holder says of itself", () => {
  const { hold } = Board.create(shape);
  hold.setStill(0, true);
  expect(hold.areOthersStill(1)).toBe(false);
  hold.setStill(2, true);
  expect(hold.areOthersStill(1)).toBe(true);
  expect(hold.areOthersStill(0)).toBe(false);
});

test("a thread that is gone stands still, and what it held is free; all others are woken", () => {
  const board = Board.create(shape);
  board.hold.take(1);
  const seen = board.wakeCount(0);
  board.clearWorker(1);
  expect(board.hold.isHeld).toBe(false);
  expect(board.wakeCount(0)).toBe(seen + 1);
  board.hold.setStill(2, true);
  expect(board.hold.areOthersStill(0)).toBe(true);
});

test("the end of a thread that does not hold the node leaves it held", () => {
  const board = Board.create(shape);
  board.hold.take(1);
  board.clearWorker(0);
  expect(board.hold.isHeld).toBe(true);
});
