import { rowsOf } from "./columns.ts";
import type { Results } from "./facts.ts";
import type { Metric } from "./metrics.ts";
import { table } from "./table.ts";

/** What fits beside one another on a screen. */
const shown: readonly Metric[] = [
  ...(["jobsPerSecond", "publishedPerSecond", "queueP50Ms", "queueP99Ms", "cpuSecondsPer1000"] as const),
  ...(["redisCpuSecondsPer1000", "rssPeakMiB", "rssFinishMiB", "firstJobMs", "idlePercent"] as const),
  ...([
    "idleRedisPercent",
    "rssGrowthMiB",
    "latenessP50Ms",
    "latenessP99Ms",
    "backlogPercent",
    "delayP50Ms",
    "delayP99Ms",
  ] as const),
];

/** The medians of all parts. */
export function terminalReport({ facts, summaries }: Results): string {
  const chapters = facts.parts.map(({ name }) => {
    const own = summaries.filter(({ part }) => part === name);
    return own.length === 0 ? "" : `\n${name}\n${table(rowsOf(own, shown))}`;
  });
  return chapters.filter(Boolean).join("\n");
}
