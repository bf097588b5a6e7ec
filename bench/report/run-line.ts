import type { RunRecord } from "../method/record.ts";
import { type Metric, metricNames, metrics } from "./metrics.ts";
import { valueText } from "./numbers.ts";

/** What is printed of a run as it ends: not all of it, the files have the rest. */
const printed: ReadonlySet<Metric> = new Set<Metric>([
  ...(["jobsPerSecond", "publishedPerSecond", "queueP50Ms", "queueP99Ms", "cpuSecondsPer1000"] as const),
  ...(["redisCpuSecondsPer1000", "rssPeakMiB", "firstJobMs", "idlePercent", "idleRedisPercent"] as const),
  ...([
    "rssGrowthMiB",
    "latenessP50Ms",
    "latenessP99Ms",
    "backlogPercent",
    "delayP50Ms",
    "delayP99Ms",
  ] as const),
]);

/** A run in one line. */
export function lineOfRun(run: RunRecord): string {
  const { workload, system, shape, jobs, repetition, problem } = run;
  const what = `${workload}, ${system}, ${shape}, ${jobs} jobs, run ${repetition}`;
  if (problem !== undefined) return `${what}: FAILED: ${problem.split("\n")[0]}`;
  const values = metricNames
    .filter((name) => printed.has(name) && run.metrics[name] !== undefined)
    .map((name) => `${metrics[name].title} ${valueText(name, run.metrics[name]!)}`);
  return `${what}: ${values.join(", ")}`;
}
