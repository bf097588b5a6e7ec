import type { RunRecord } from "../method/record.ts";
import { briefMetrics, metrics } from "./metrics.ts";
import { valueText } from "./numbers.ts";

/** A run in one line. */
export function lineOfRun(run: RunRecord): string {
  const { workload, system, shape, jobs, repetition, problem } = run;
  const what = `${workload}, ${system}, ${shape}, ${jobs} jobs, run ${repetition}`;
  if (problem !== undefined) return `${what}: FAILED: ${problem.split("\n")[0]}`;
  const values = briefMetrics
    .filter((name) => run.metrics[name] !== undefined)
    .map((name) => `${metrics[name].title} ${valueText(name, run.metrics[name]!)}`);
  const odd = run.remark === undefined ? "" : ` (${run.remark.split("\n")[0]})`;
  return `${what}: ${values.join(", ")}${odd}`;
}
