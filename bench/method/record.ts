import type { Metric } from "../report/metrics.ts";

/** What was measured: runs that agree in all of this are repetitions of one another. */
export interface Subject {
  readonly part: string;
  /** A key of `workloads`, or another word where jobs are not what is measured (`publish single`). */
  readonly workload: string;
  readonly system: string;
  /** Of the shape; empty where the system has one way. */
  readonly variant: string;
  /** The shape in the words of the system. */
  readonly shape: string;
  /** Threads or processes that run jobs. */
  readonly workers: number;
  /** Jobs at a time in all. */
  readonly concurrency: number;
  readonly jobs: number;
}

/** Jobs that should have run, and what became of them. */
export interface Counts {
  readonly expected: number;
  /** Different jobs that ended without an error. */
  readonly executed: number;
  readonly errors: number;
  /** Further times that jobs ended which had ended before. */
  readonly duplicates: number;
}

/** One run of one subject. With a problem it is a failed run: shown as such, never averaged in. */
export interface RunRecord extends Subject {
  /** From 1. */
  readonly repetition: number;
  readonly problem: string | undefined;
  /** Something odd that kept no job from running, such as a worker that did not end as it should. */
  readonly remark?: string | undefined;
  /** Undefined where a run has no jobs to count. */
  readonly counts: Counts | undefined;
  readonly metrics: Partial<Readonly<Record<Metric, number>>>;
}

/** What is wrong with these counts, in a few words; undefined when each job ran once. */
export function problemOf({ expected, executed, errors, duplicates }: Counts): string | undefined {
  if (executed === expected && errors === 0 && duplicates === 0) return undefined;
  return `executed ${executed} of ${expected}, ${errors} errors, ${duplicates} duplicates`;
}
