import type { Counts, RunRecord, Subject } from "../method/record.ts";
import { type Metric, metricNames } from "./metrics.ts";
import { type Summary, summaryOf } from "./statistics.ts";

/** The repetitions of one subject. Failed runs are counted, and in nothing else. */
export interface SubjectSummary extends Subject {
  readonly succeeded: number;
  readonly failed: number;
  /** Of all runs together, the failed ones included; undefined where there are no jobs to count. */
  readonly counts: Counts | undefined;
  /** What was wrong with the failed ones, each text once. */
  readonly problems: readonly string[];
  readonly metrics: Partial<Readonly<Record<Metric, Summary>>>;
}

/** One for each subject, in the order of their first runs. */
export function summariesOf(runs: readonly RunRecord[]): SubjectSummary[] {
  const subjects = Map.groupBy(runs, subjectKey);
  const summaries = [...subjects.values()].map(summaryOfRuns);
  return summaries.map((each) => ({ ...each, metrics: { ...each.metrics, ...scalingOf(each, summaries) } }));
}

function subjectKey(subject: Subject): string {
  const { part, workload, system, variant, shape, workers, concurrency, jobs } = subject;
  return JSON.stringify([part, workload, system, variant, shape, workers, concurrency, jobs]);
}

function summaryOfRuns(runs: readonly RunRecord[]): SubjectSummary {
  const { part, workload, system, variant, shape, workers, concurrency, jobs } = runs[0]!;
  const good = runs.filter(({ problem }) => problem === undefined);
  const problems = runs.flatMap(({ problem }) => (problem === undefined ? [] : [problem]));
  const measured = metricNames.filter((name) => good.some(({ metrics }) => metrics[name] !== undefined));
  return {
    ...{ part, workload, system, variant, shape, workers, concurrency, jobs },
    succeeded: good.length,
    failed: runs.length - good.length,
    counts: countsOf(runs),
    problems: [...new Set(problems)],
    metrics: Object.fromEntries(measured.map((name) => [name, summaryOf(valuesOf(good, name))])),
  };
}

function countsOf(runs: readonly RunRecord[]): Counts | undefined {
  const all = runs.flatMap(({ counts }) => counts ?? []);
  if (all.length === 0) return undefined;
  const sum = (name: keyof Counts) => all.reduce((total, counts) => total + counts[name], 0);
  return {
    ...{ expected: sum("expected"), executed: sum("executed") },
    ...{ errors: sum("errors"), duplicates: sum("duplicates") },
  };
}

function valuesOf(runs: readonly RunRecord[], metric: Metric): number[] {
  return runs.flatMap(({ metrics }) => metrics[metric] ?? []);
}

/**
 * What only shows beside the same system at a concurrency of 1: how much of the ideal rate is reached, and the
 * memory that each further worker takes.
 */
function scalingOf(
  subject: SubjectSummary,
  all: readonly SubjectSummary[],
): Partial<Record<Metric, Summary>> {
  const single = all.find(
    ({ part, workload, system, concurrency }) =>
      concurrency === 1 &&
      part === subject.part &&
      workload === subject.workload &&
      system === subject.system,
  );
  if (single === undefined || single === subject) return {};
  return {
    ...ratio(subject, single),
    ...(subject.workers > single.workers ? marginalMemory(subject, single) : {}),
  };
}

function ratio(subject: SubjectSummary, single: SubjectSummary): Partial<Record<Metric, Summary>> {
  const [rate, base] = [subject.metrics.jobsPerSecond, single.metrics.jobsPerSecond];
  if (rate === undefined || base === undefined) return {};
  const of = (value: number) => value / (base.median * subject.concurrency);
  return { scalingEfficiency: { median: of(rate.median), min: of(rate.min), max: of(rate.max) } };
}

function marginalMemory(subject: SubjectSummary, single: SubjectSummary): Partial<Record<Metric, Summary>> {
  const [finish, base] = [subject.metrics.rssFinishMiB, single.metrics.rssFinishMiB];
  if (finish === undefined || base === undefined) return {};
  const of = (value: number) => (value - base.median) / (subject.workers - single.workers);
  return { marginalRssMiB: { median: of(finish.median), min: of(finish.min), max: of(finish.max) } };
}
