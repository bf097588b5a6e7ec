import { expect, test } from "bun:test";
import { onGrid } from "../../../src/conductor/pulse/duty.ts";

test("long pauses that begin at different times end together, never later than asked", () => {
  expect(20 + onGrid(1000, 20)).toBe(1000);
  expect(150 + onGrid(1000, 150)).toBe(1000);
  expect(850 + onGrid(200, 850)).toBe(1000);
  expect(1000 + onGrid(3000, 1000)).toBe(4000);
});

test("short pauses, which wait for a due time or after a failure, stay as they are", () => {
  expect(onGrid(199, 150)).toBe(199);
  expect(onGrid(0, 150)).toBe(0);
});
