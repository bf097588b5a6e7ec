import { expect, test } from "bun:test";
import { quantile, summaryOf } from "../../bench/report/statistics.ts";

test("the median of six runs lies between the third and the fourth", () => {
  expect(summaryOf([6, 1, 5, 2, 4, 3])).toEqual({ median: 3.5, min: 1, max: 6 });
});

test("a quantile between two values is in proportion", () => {
  expect(quantile([10, 20, 30, 40, 50], 0.5)).toBe(30);
  expect(quantile([0, 100], 0.95)).toBe(95);
  expect(quantile([7], 0.99)).toBe(7);
});

test("values are ordered as numbers, and left as they are", () => {
  const values = [100, 9, 80];
  expect(summaryOf(values)).toEqual({ median: 80, min: 9, max: 100 });
  expect(values).toEqual([100, 9, 80]);
});

test("nothing measured is not a number, neither zero nor infinite", () => {
  expect(summaryOf([])).toEqual({ median: Number.NaN, min: Number.NaN, max: Number.NaN });
});
