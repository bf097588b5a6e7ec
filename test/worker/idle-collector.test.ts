import { expect, test } from "bun:test";
import { IdleCollector } from "../../src/worker/idle-collector.ts";

test("a thread collects once after its start, when the node has run out of work, and again only after more work", () => {
  const board = { reservedCount: 0 };
  let collections = 0;
  const collector = new IdleCollector(board, () => {
    collections += 1;
  });
  const afterTick = (reserved: number) => {
    board.reservedCount = reserved;
    collector.tick();
    return collections;
  };
  expect(afterTick(0)).toBe(1);
  expect(afterTick(0)).toBe(1);
  expect(afterTick(5)).toBe(1);
  expect(afterTick(9)).toBe(1);
  expect(afterTick(9)).toBe(2);
  expect(afterTick(9)).toBe(2);
  expect(afterTick(10)).toBe(2);
  expect(afterTick(10)).toBe(3);
});

test("a thread that works from the start collects when that work is over", () => {
  const board = { reservedCount: 0 };
  let collections = 0;
  const collector = new IdleCollector(board, () => {
    collections += 1;
  });
  board.reservedCount = 3;
  collector.tick();
  expect(collections).toBe(0);
  collector.tick();
  expect(collections).toBe(1);
});
