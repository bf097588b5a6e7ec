import { type Metric, metricNames, metrics } from "./metrics.ts";
import { summaryText } from "./numbers.ts";
import type { SubjectSummary } from "./summaries.ts";

/** The summaries of one part as rows with a head, with those of the metrics that any of them has. */
export function rowsOf(
  summaries: readonly SubjectSummary[],
  shown: readonly Metric[] = metricNames,
): string[][] {
  const columns = shown.filter((name) => summaries.some((each) => each.metrics[name] !== undefined));
  const head = ["workload", "system", "shape", "jobs", "runs", "executed", "errors", "doubles"];
  return [[...head, ...columns.map(titleOf)], ...summaries.map((each) => rowOf(each, columns))];
}

function titleOf(name: Metric): string {
  const { title, unit } = metrics[name];
  return unit === "" || title.includes("/s") ? title : `${title}, ${unit}`;
}

function rowOf(summary: SubjectSummary, columns: readonly Metric[]): string[] {
  const { workload, system, shape, jobs, succeeded, failed } = summary;
  const runs = failed === 0 ? String(succeeded) : `${succeeded}, ${failed} FAILED`;
  return [
    ...[workload, system, shape, jobs.toLocaleString("en"), runs, ...countCells(summary)],
    ...columns.map((name) => {
      const value = summary.metrics[name];
      if (value !== undefined) return summaryText(name, value);
      return succeeded === 0 ? "FAILED" : "";
    }),
  ];
}

function countCells({ counts }: SubjectSummary): string[] {
  if (counts === undefined) return ["", "", ""];
  const { expected, executed, errors, duplicates } = counts;
  const text = (value: number) => value.toLocaleString("en");
  return [
    executed === expected ? "all" : `${text(executed)} of ${text(expected)}`,
    ...[text(errors), text(duplicates)],
  ];
}
