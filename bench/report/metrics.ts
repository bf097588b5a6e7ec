/** How a number is shown, and which way is better. */
export interface MetricStyle {
  readonly title: string;
  readonly unit: string;
  readonly digits: number;
  readonly better: "more" | "less";
}

function style(title: string, unit: string, digits: number, better: MetricStyle["better"]): MetricStyle {
  return { title, unit, digits, better };
}

/** All that a run can have measured, in the order of the columns. */
export const metrics = {
  jobsPerSecond: style("jobs/s", "1/s", 0, "more"),
  publishedPerSecond: style("published/s", "1/s", 0, "more"),
  queueP50Ms: style("queue p50", "ms", 2, "less"),
  queueP95Ms: style("queue p95", "ms", 2, "less"),
  queueP99Ms: style("queue p99", "ms", 2, "less"),
  delayP50Ms: style("publish to end p50", "ms", 0, "less"),
  delayP99Ms: style("publish to end p99", "ms", 0, "less"),
  execP50Ms: style("exec p50", "ms", 3, "less"),
  cpuSecondsPer1000: style("CPU s per 1,000", "s", 4, "less"),
  redisCpuSecondsPer1000: style("Redis CPU s per 1,000", "s", 4, "less"),
  rssStartMiB: style("RSS start", "MiB", 1, "less"),
  rssPeakMiB: style("RSS peak", "MiB", 1, "less"),
  rssFinishMiB: style("RSS finish", "MiB", 1, "less"),
  pssStartMiB: style("PSS start", "MiB", 1, "less"),
  pssPeakMiB: style("PSS peak", "MiB", 1, "less"),
  pssFinishMiB: style("PSS finish", "MiB", 1, "less"),
  marginalRssMiB: style("RSS per further worker", "MiB", 2, "less"),
  jobsPerSecondPerMiB: style("jobs/s/MiB", "1/s/MiB", 1, "more"),
  scalingEfficiency: style("scaling efficiency", "", 2, "more"),
  firstJobMs: style("exec to first job", "ms", 0, "less"),
  seconds: style("first to last job", "s", 2, "less"),
  cpuSeconds: style("CPU since exec", "s", 2, "less"),
  idlePercent: style("idle CPU", "% of a core", 3, "less"),
  idleRedisPercent: style("idle Redis CPU", "% of a core", 3, "less"),
  rssGrowthMiB: style("RSS growth", "MiB", 1, "less"),
  latenessP50Ms: style("lateness p50", "ms", 2, "less"),
  latenessP99Ms: style("lateness p99", "ms", 2, "less"),
  backlogPercent: style("slower than with few", "%", 1, "less"),
} as const satisfies Record<string, MetricStyle>;

export type Metric = keyof typeof metrics;

export const metricNames = Object.keys(metrics) as Metric[];

/** Those that fit in a line: the others are in the files. */
export const briefMetrics: readonly Metric[] = [
  ...([
    "jobsPerSecond",
    "publishedPerSecond",
    "queueP50Ms",
    "queueP99Ms",
    "delayP50Ms",
    "delayP99Ms",
  ] as const),
  ...(["cpuSecondsPer1000", "redisCpuSecondsPer1000", "rssPeakMiB", "rssFinishMiB", "firstJobMs"] as const),
  ...(["idlePercent", "idleRedisPercent", "rssGrowthMiB", "latenessP50Ms", "latenessP99Ms"] as const),
  "backlogPercent",
];
