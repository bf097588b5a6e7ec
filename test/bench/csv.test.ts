import { expect, test } from "bun:test";
import { csvOf } from "../../bench/report/csv.ts";
import { aRun } from "./fixtures/records.ts";

/** Each line's cells by the names of the columns; for texts without quotes. */
function cellsOf(csv: string): Record<string, string>[] {
  const [head = "", ...lines] = csv.trimEnd().split("\r\n");
  const names = head.split(",");
  return lines.map((line) => Object.fromEntries(line.split(",").map((cell, place) => [names[place], cell])));
}

test("every run has a line with its subject, counts and numbers; what was not measured is empty", () => {
  const [line, ...others] = cellsOf(csvOf([aRun({ metrics: { jobsPerSecond: 1234.5 } })]));
  expect(others).toEqual([]);
  expect(line).toMatchObject({
    ...{ part: "throughput", system: "solid-jobs", shape: "1 x 1", jobs: "100", repetition: "1" },
    ...{ outcome: "ok", expected: "100", executed: "100", errors: "0", duplicates: "0" },
    ...{ jobsPerSecond: "1234.5", rssPeakMiB: "", problem: "" },
  });
});

test("a failed run is shown as failed", () => {
  const counts = { expected: 100, executed: 98, errors: 2, duplicates: 0 };
  const [line] = cellsOf(csvOf([aRun({ problem: "it stood still", counts, metrics: {} })]));
  expect(line).toMatchObject({ outcome: "FAILED", executed: "98", errors: "2", problem: "it stood still" });
});

test("commas, quotes and line ends stay within their cell", () => {
  const csv = csvOf([aRun({ problem: 'it said: "no",\nand ended' })]);
  expect(csv).toEndWith(',"it said: ""no"",\nand ended",\r\n');
});
