import type { RunRecord } from "../method/record.ts";
import { metricNames } from "./metrics.ts";

const columns = [
  ...["part", "workload", "system", "variant", "shape", "workers", "concurrency", "jobs", "repetition"],
  ...["outcome", "expected", "executed", "errors", "duplicates"],
  ...metricNames,
  ...["problem", "remark"],
] as const;

/** One line for each run (RFC 4180), failed ones included; a number that was not measured is empty. */
export function csvOf(runs: readonly RunRecord[]): string {
  return [columns.join(","), ...runs.map(lineOf)].map((line) => `${line}\r\n`).join("");
}

function lineOf(run: RunRecord): string {
  const { problem, counts } = run;
  return [
    ...[run.part, run.workload, run.system, run.variant, run.shape, run.workers, run.concurrency],
    ...[run.jobs, run.repetition, problem === undefined ? "ok" : "FAILED"],
    ...[counts?.expected, counts?.executed, counts?.errors, counts?.duplicates],
    ...metricNames.map((name) => run.metrics[name]),
    ...[problem, run.remark],
  ]
    .map(cell)
    .join(",");
}

function cell(value: string | number | undefined): string {
  if (value === undefined) return "";
  const text = String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
