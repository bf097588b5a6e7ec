import { drawBars } from "./chart-bars.ts";
import { drawLines } from "./chart-lines.ts";
import type { ChartGiven } from "./chart-style.ts";
import type { Results } from "./facts.ts";
import { type Metric, metrics } from "./metrics.ts";
import type { SubjectSummary } from "./summaries.ts";

export interface Chart {
  /** Without its folder. */
  readonly fileName: string;
  readonly title: string;
  readonly svg: string;
}

/** What is drawn of each part; a part that is not here has charts of its own, or none. */
const drawn: Readonly<Record<string, readonly Metric[]>> = {
  throughput: ["jobsPerSecond", "cpuSecondsPer1000", "redisCpuSecondsPer1000"],
  sizes: ["jobsPerSecond"],
  grid: ["jobsPerSecond"],
  cpu: ["jobsPerSecond"],
  io: ["jobsPerSecond"],
  http: ["jobsPerSecond", "rssPeakMiB"],
  postgres: ["jobsPerSecond"],
  file: ["jobsPerSecond"],
  stress: ["jobsPerSecond"],
  publish: ["publishedPerSecond"],
  latency: ["queueP50Ms", "queueP99Ms"],
  lateness: ["latenessP99Ms"],
  memory: ["rssFinishMiB", "pssFinishMiB"],
  start: ["firstJobMs"],
  idle: ["idlePercent"],
  embedded: ["jobsPerSecond", "publishedPerSecond"],
  stability: ["queueP99Ms", "rssGrowthMiB"],
  merchants: ["jobsPerSecond", "delayP99Ms"],
};

/** The charts of one part: one for each workload and number, lines where several sizes were measured. */
export async function chartsOf({ summaries, facts }: Results, part: string): Promise<Chart[]> {
  const order = facts.systems.map(({ name }) => name);
  const charts: Chart[] = [];
  const workloads = Map.groupBy(
    summaries.filter((each) => each.part === part),
    ({ workload }) => workload,
  );
  for (const [workload, all] of workloads) {
    for (const metric of drawn[part] ?? []) {
      if (!all.some((each) => each.metrics[metric] !== undefined)) continue;
      // Who failed throughout is in the chart too, without a number.
      const shown = all.filter((each) => each.metrics[metric] !== undefined || each.succeeded === 0);
      if (shown.length < 2) continue;
      const { title, unit } = metrics[metric];
      const heading = `${part === workload ? part : `${part}: ${workload}`}, ${title}${unit === "" || title.includes("/s") ? "" : ` (${unit})`}`;
      const given: ChartGiven = { title: heading, metric, summaries: shown, order };
      charts.push({
        fileName: `${slug(`${part === workload ? part : `${part}-${workload}`}-${title}`)}.svg`,
        title: heading,
        svg: await (hasSizes(shown) ? drawLines(given) : drawBars(given)),
      });
    }
  }
  return charts;
}

/** Whether some system was measured at several concurrencies, or with several numbers of jobs. */
function hasSizes(summaries: readonly SubjectSummary[]): boolean {
  const first = summaries[0]!;
  const own = summaries.filter(({ system, variant }) => system === first.system && variant === first.variant);
  return own.length > 1;
}

function slug(text: string): string {
  return text
    .toLowerCase()
    .replaceAll("/s", "-per-s")
    .replaceAll(/[^a-z0-9]+/g, "-")
    .replaceAll(/^-|-$/g, "");
}
