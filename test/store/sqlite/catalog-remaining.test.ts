import { expect, test } from "bun:test";
import { Remaining } from "../../../src/store/sqlite/catalog-remaining.ts";

test("what is left is counted at the first step and when the last one may be near, else reckoned", () => {
  const remaining = new Remaining();
  const counted: number[] = [];
  const count = (stored: number) => () => {
    counted.push(stored);
    return stored;
  };
  const further = (gone: number, stored: number) => ({ gone, isFurther: true, count: count(stored) });
  expect(remaining.after("a", { gone: 100, count: count(250) })).toBe(250);
  expect(remaining.after("a", further(100, -1))).toBe(150);
  expect(remaining.after("b", further(100, 7))).toBe(7);
  expect(remaining.after("a", further(100, -1))).toBe(50);
  expect(remaining.after("a", further(50, 3))).toBe(3); // somebody has published meanwhile
  expect(remaining.after("a", further(3, 0))).toBe(0);
  expect(remaining.after("a", further(0, 9))).toBe(9);
  expect(counted).toEqual([250, 7, 3, 0, 9]);
});

test("the first step of a change and one that found nothing count, whatever an earlier change has left", () => {
  const remaining = new Remaining();
  expect(remaining.after("a", { gone: 100, count: () => 150 })).toBe(150);
  expect(remaining.after("a", { gone: 100, count: () => 1000 })).toBe(1000);
  expect(remaining.after("a", { gone: 0, isFurther: true, count: () => 2 })).toBe(2);
});
