import { expect, test } from "bun:test";
import { rowsOf } from "../../bench/report/columns.ts";
import { summariesOf } from "../../bench/report/summaries.ts";
import { markdownTable, table } from "../../bench/report/table.ts";
import { aRun } from "./fixtures/records.ts";

test("columns of a terminal's table begin under one another", () => {
  expect(
    table([
      ["a", "long head"],
      ["longer cell", "b"],
    ]),
  ).toBe("a            long head\nlonger cell  b");
});

test("a Markdown table has a line under its head, and cells cannot break it", () => {
  expect(markdownTable([["what"], ["a|b\nc"]])).toBe("| what |\n| --- |\n| a\\|b c |");
});

test("a row shows the median with its bounds, in the digits of the number", () => {
  const summaries = summariesOf([
    aRun({ metrics: { jobsPerSecond: 12_345.6, cpuSecondsPer1000: 0.01234 } }),
    aRun({ repetition: 2, metrics: { jobsPerSecond: 10_000, cpuSecondsPer1000: 0.01234 } }),
  ]);
  expect(rowsOf(summaries)).toEqual([
    [
      "workload",
      "system",
      "shape",
      "jobs",
      "runs",
      "executed",
      "errors",
      "doubles",
      "jobs/s",
      "CPU s per 1,000, s",
    ],
    ["noop", "solid-jobs", "1 x 1", "100", "2", "all", "0", "0", "11,173 (10,000 to 12,346)", "0.0123"],
  ]);
});

test("failed runs show in the row, and a row of failed runs only has no numbers", () => {
  const counts = { expected: 100, executed: 90, errors: 10, duplicates: 1 };
  const failed = { problem: "executed 90 of 100", counts, metrics: {} };
  const rows = rowsOf(
    summariesOf([aRun(), aRun({ repetition: 2, ...failed }), aRun({ system: "b", ...failed })]),
  );
  expect(rows.slice(1).map((row) => row.slice(4))).toEqual([
    ["1, 1 FAILED", "190 of 200", "10", "1", "1,000"],
    ["0, 1 FAILED", "90 of 100", "10", "1", "FAILED"],
  ]);
});
