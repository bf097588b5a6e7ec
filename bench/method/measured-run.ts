import { layoutFor, marksEnvironment } from "../marks/layout.ts";
import { MarksReader, type Ran, type Sample } from "../marks/reader.ts";
import { quantile } from "../report/statistics.ts";
import type { Shape, System } from "../systems/system.ts";
import { type Surroundings, type Workload, workloadEnvironment } from "../workloads/workload.ts";
import { inClient } from "./client-process.ts";
import type { Place } from "./place.ts";
import { type Counts, problemOf, type RunRecord } from "./record.ts";
import type { RedisPlace } from "./redis-place.ts";
import { Usage } from "./usage.ts";
import { WorkerProcess } from "./worker-process.ts";

const pollMs = 20;
const firstPollMs = 5;
/** Workers that end no job for this long, with jobs left, have failed. */
const standstillMs = 60_000;

/** A system in a shape, with a workload. */
export interface Contender {
  readonly system: System;
  readonly shape: Shape;
  readonly workload: Workload;
  readonly jobs: number;
}

export type Measured = Pick<RunRecord, "problem" | "remark" | "counts" | "metrics">;

/** The workers of one run, their marks and what they use. */
export class MeasuredRun {
  readonly contender: Contender;
  readonly marks: MarksReader;
  readonly worker: WorkerProcess;
  readonly usage: Usage;

  constructor(contender: Contender, place: Place, around: Surroundings = {}) {
    const { system, shape, workload, jobs } = contender;
    const layout = layoutFor(jobs);
    this.contender = contender;
    this.marks = new MarksReader(place.folder, layout);
    const env = { ...marksEnvironment(place.folder, layout), ...workloadEnvironment(workload, around) };
    const command = system.worker(place.url, shape);
    this.worker = new WorkerProcess({ command, shape, folder: place.folder, env });
    this.usage = new Usage(this.worker.tree);
  }

  /** Resolves when the first job has begun. @throws Error when none does */
  begun(): Promise<Ran> {
    return this.until((ran) => ran.firstMs < Infinity, firstPollMs);
  }

  /** Resolves when as many jobs have ended as were published. @throws Error when the workers stand still or end */
  allEnded(jobs = this.contender.jobs): Promise<Ran> {
    return this.until((ran) => ran.executed + ran.errors >= jobs, pollMs);
  }

  /** Of the jobs published: all of the contender's, where nothing else is said. */
  counts(published = this.contender.jobs): Counts {
    return this.marks.counts(published);
  }

  private async until(isReached: (ran: Ran) => boolean, everyMs: number): Promise<Ran> {
    let movedAt = performance.now();
    let before = -1;
    for (;;) {
      const hasEnded = this.worker.hasEnded;
      const ran = this.marks.ran();
      if (isReached(ran)) return ran;
      if (hasEnded) throw new Error(`the workers ended by themselves; ${this.worker.said}`);
      const ended = ran.executed + ran.errors;
      if (ended !== before) movedAt = performance.now();
      before = ended;
      if (performance.now() - movedAt > standstillMs) {
        throw new Error(`no job ended for ${standstillMs / 1000} s; ${this.worker.said}`);
      }
      await Bun.sleep(everyMs);
    }
  }
}

export interface RunGiven {
  readonly contender: Contender;
  readonly place: Place;
  readonly redis: RedisPlace;
  readonly around: Surroundings;
}

/**
 * Fills the queue, starts the workers, and measures until the last job has ended. What goes wrong is in the
 * answer, with the jobs that had run by then.
 */
export async function measuredRun({ contender, place, redis, around }: RunGiven): Promise<Measured> {
  let run: MeasuredRun | undefined;
  try {
    await fill(contender, place);
    const idleRedis = await redis.cpuSeconds();
    run = new MeasuredRun(contender, place, around);
    const metrics = await watched(run, redis, idleRedis);
    const remark = await run.worker.stop();
    const counts = run.counts();
    const all = { ...metrics, ...latencies(run.marks.samples()) };
    return { problem: problemOf(counts), remark, counts, metrics: all };
  } catch (error) {
    const counts = run?.counts() ?? { expected: contender.jobs, executed: 0, errors: 0, duplicates: 0 };
    return { problem: (error as Error).message, counts, metrics: {} };
  } finally {
    await run?.worker.kill();
  }
}

/** By the system's own client. @throws Error when that fails */
export async function fill({ system, shape, jobs }: Contender, place: Place): Promise<void> {
  await inClient(system, place.url, { kind: "fill", jobs, concurrency: shape.workers * shape.slots });
}

async function watched(run: MeasuredRun, redis: RedisPlace, idleRedis: number): Promise<Measured["metrics"]> {
  const { jobs } = run.contender;
  const { executed: before } = await run.begun();
  const start = run.usage.start();
  const { firstMs, lastMs } = await run.allEnded();
  const end = run.usage.stop();
  const redisSeconds = (await redis.cpuSeconds()) - idleRedis;
  const seconds = (lastMs - firstMs) / 1000;
  const jobsPerSecond = jobs / seconds;
  // A run that was over before the second look has the start of its process in it.
  const [cpuSeconds, cpuJobs] =
    jobs - before > jobs / 2 ? [end.cpuSeconds - start.cpuSeconds, jobs - before] : [end.cpuSeconds, jobs];
  return {
    jobsPerSecond,
    seconds,
    firstJobMs: firstMs - run.worker.spawnedMs,
    cpuSeconds: end.cpuSeconds,
    cpuSecondsPer1000: (cpuSeconds / cpuJobs) * 1000,
    ...(run.contender.system.engine === "redis"
      ? { redisCpuSecondsPer1000: (redisSeconds / jobs) * 1000 }
      : {}),
    ...{ rssStartMiB: start.rssMiB, rssPeakMiB: run.usage.peakRssMiB, rssFinishMiB: end.rssMiB },
    ...{ pssStartMiB: start.pssMiB, pssPeakMiB: run.usage.peakPssMiB, pssFinishMiB: end.pssMiB },
    jobsPerSecondPerMiB: jobsPerSecond / run.usage.peakRssMiB,
  };
}

/**
 * From when a job could have begun until it began, and how long its body took.
 *
 * @param dueMs when each job was published or due; default: all as the first one began (a queue filled beforehand)
 */
export function latencies(
  samples: readonly Sample[],
  dueMs?: (index: number) => number,
): Measured["metrics"] {
  if (samples.length === 0) return {};
  const first = Math.min(...samples.map(({ startMs }) => startMs));
  const waited = samples.map(({ index, startMs }) => startMs - (dueMs?.(index) ?? first));
  const ran = samples.map(({ startMs, endMs }) => endMs - startMs);
  return {
    queueP50Ms: quantile(waited, 0.5),
    queueP95Ms: quantile(waited, 0.95),
    queueP99Ms: quantile(waited, 0.99),
    execP50Ms: quantile(ran, 0.5),
  };
}
