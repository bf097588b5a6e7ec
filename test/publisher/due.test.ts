import { expect, test } from "bun:test";
import { dueAfter, dueAt } from "../../src/publisher/due.ts";

test("scheduleAt takes a Date or epoch seconds, the past included", () => {
  expect(dueAt(new Date(1500))).toEqual({ atSeconds: 1.5 });
  expect(dueAt(1_800_000_000.25)).toEqual({ atSeconds: 1_800_000_000.25 });
  expect(dueAt(0)).toEqual({ atSeconds: 0 });
  expect(dueAt(1e11)).toEqual({ atSeconds: 1e11 });
});

test("scheduleAt refuses numbers above 1e11 as milliseconds, and says what to pass", () => {
  expect(() => dueAt(1_800_000_000_000)).toThrow(
    "expected a Date or epoch seconds, got 1800000000000, which must be milliseconds: pass new Date(milliseconds)",
  );
});

test("scheduleAt refuses what is no time", () => {
  expect(() => dueAt(new Date(Number.NaN))).toThrow("got an invalid Date");
  expect(() => dueAt(Number.NaN)).toThrow("got NaN");
  expect(() => dueAt(Number.POSITIVE_INFINITY)).toThrow("got Infinity");
  expect(() => dueAt(-1)).toThrow("got -1, before 1970");
  expect(() => dueAt("tomorrow" as never)).toThrow("got tomorrow");
  expect(() => dueAt(undefined as never)).toThrow("got undefined");
});

test("enqueueAfter takes finite seconds from 0, and nothing else", () => {
  expect(dueAfter(0)).toEqual({ afterSeconds: 0 });
  expect(dueAfter(0.5)).toEqual({ afterSeconds: 0.5 });
  for (const wrong of [-1, Number.NaN, Number.POSITIVE_INFINITY, "5", undefined, null]) {
    expect(() => dueAfter(wrong as never)).toThrow(`expected seconds, a finite number from 0, got ${wrong}`);
  }
});
