/** What one way came to in one round; every value is "less is better" or "more is better" as `quantities` says. */
export type Reading = Readonly<Partial<Record<Quantity, number>>>;

export type Quantity = keyof typeof quantities;

/** What is measured, for each job. */
export const quantities = {
  redisUs: { text: "Redis, script (us)", isLessBetter: true },
  redisCpuUs: { text: "Redis, CPU (us)", isLessBetter: true },
  workerUs: { text: "worker, CPU (us)", isLessBetter: true },
  bytesOut: { text: "bytes to Redis", isLessBetter: true },
  bytesIn: { text: "bytes from Redis", isLessBetter: true },
  us: { text: "time (us)", isLessBetter: true },
  waitMs: { text: "wait, p99 (ms)", isLessBetter: true },
  jobsPerSecond: { text: "jobs/s", isLessBetter: false },
} as const;

/** One way of doing it; the first of a comparison is what the code does now. */
export interface Way {
  readonly name: string;
  measure(): Promise<Reading>;
}

export interface Comparison {
  /** Where it is measured, such as `64 at a time`. */
  readonly at: string;
  readonly ways: readonly [Way, ...Way[]];
  readonly quantities: readonly Quantity[];
  /** Each measure warms up by itself: no round is left out for it. */
  readonly isWarm?: boolean;
}

export interface Experiment {
  /** As the command line takes it. */
  readonly name: string;
  /** What is held against what. */
  readonly summary: string;
  /** Runs with what it needs open; hands out its comparisons one after the other, and says what else it finds. */
  run(compare: (comparison: Comparison) => Promise<void>, say: (text: string) => void): Promise<void>;
}
