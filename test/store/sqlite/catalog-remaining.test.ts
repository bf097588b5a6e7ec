import { expect, test } from "bun:test";
import { Remaining } from "../../../src/store/sqlite/catalog-remaining.ts";

test("what is left is counted at the first step and when the last one may be near, else reckoned", () => {
  const remaining = new Remaining();
  const counted: number[] = [];
  const count = (stored: number) => () => {
    counted.push(stored);
    return stored;
  };
  expect(remaining.after("a", 100, count(250))).toBe(250);
  expect(remaining.after("a", 100, count(-1))).toBe(150);
  expect(remaining.after("b", 100, count(7))).toBe(7);
  expect(remaining.after("a", 100, count(-1))).toBe(50);
  expect(remaining.after("a", 50, count(3))).toBe(3); // somebody has published meanwhile
  expect(remaining.after("a", 3, count(0))).toBe(0);
  expect(remaining.after("a", 0, count(9))).toBe(9);
  expect(counted).toEqual([250, 7, 3, 0, 9]);
});
