import { relative } from "node:path";
import type { Result } from "./result-log.ts";

/** What the demo has to show at its end. */
export interface DemoOutcome {
  readonly root: string;
  /** Where the jobs were stored. */
  readonly store: string;
  readonly results: readonly Result[];
  /** From the first publication to the last result. */
  readonly seconds: number;
  /** When each scheduled job was to start, in epoch milliseconds, by job id. */
  readonly dueMs: ReadonlyMap<string, number>;
}

const slowestShown = 3;

/** The table, one row of two columns per line. */
export function summary(outcome: DemoOutcome): string {
  const { results, seconds } = outcome;
  const bytes = sum(results.map((result) => result.bytes));
  const gzipBytes = sum(results.map((result) => result.gzipBytes));
  const retried = results.filter((result) => result.attempt > 1);
  const rows: [string, string][] = [
    ["store", outcome.store],
    ["files", `${count(results.length)} in ${outcome.root}`],
    ["bytes", `${mebibytes(bytes)}, gzipped ${mebibytes(gzipBytes)}`],
    [
      "speed",
      `${count(results.length / seconds)} jobs/s, ${mebibytes(bytes / seconds)}/s, ${seconds.toFixed(1)} s in all`,
    ],
    [
      "retries",
      `${count(sum(retried.map(({ attempt }) => attempt - 1)))}, of ${count(retried.length)} jobs that fail on purpose`,
    ],
    ["scheduled", scheduled(outcome)],
    ...workers(results),
    ...slowest(outcome),
  ];
  return table(rows);
}

/** Two columns, the second one aligned. */
export function table(rows: readonly (readonly [string, string])[]): string {
  return rows.map(([name, value]) => `${name.padEnd(10)}  ${value}`).join("\n");
}

export function count(value: number): string {
  return Math.round(value).toLocaleString("en-US");
}

function scheduled({ results, dueMs }: DemoOutcome): string {
  const lateMs = results
    .flatMap(({ id, startedMs }) => (dueMs.has(id) ? [startedMs - dueMs.get(id)!] : []))
    .sort((a, b) => a - b);
  if (lateMs.length === 0) return "none";
  const median = lateMs[Math.floor(lateMs.length / 2)]!;
  const late = `${count(median)} ms after their time (median), ${count(lateMs.at(-1)!)} ms at most`;
  return `${count(lateMs.length)} jobs, begun when a worker was free: ${late}`;
}

function workers(results: readonly Result[]): [string, string][] {
  const groups = [...Map.groupBy(results, ({ worker }) => worker)].sort(([a], [b]) => a - b);
  return groups.map(([, own], index) => [
    `worker ${index + 1}`,
    `${count(own.length)} jobs, ${mebibytes(sum(own.map(({ bytes }) => bytes)))}`,
  ]);
}

function slowest({ root, results }: DemoOutcome): [string, string][] {
  return results
    .toSorted((a, b) => b.durationMs - a.durationMs)
    .slice(0, slowestShown)
    .map((result, index) => [
      index === 0 ? "slowest" : "",
      `${count(result.durationMs)} ms for ${mebibytes(result.bytes)}: ${relative(root, result.file)}`,
    ]);
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}

function mebibytes(bytes: number): string {
  return `${(bytes / 1024 ** 2).toFixed(1)} MiB`;
}
