import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { staged } from "../growth/backlog.ts";
import { nowMs } from "../marks/clock.ts";
import { layoutFor, marksEnvironment } from "../marks/layout.ts";
import { MarksReader } from "../marks/reader.ts";
import { WorkerProcess } from "../method/worker-process.ts";
import { quantile } from "../report/statistics.ts";
import type { Reading } from "./experiment.ts";
import type { Stand, Work } from "./stand.ts";

const program = join(import.meta.dir, "..", "..", "bin", "solid-jobs.ts");
const tasks = join(import.meta.dir, "jobs.ts");
const pollMs = 2;
const longestMs = 60_000;

export interface NodeGiven {
  readonly stand: Stand;
  readonly workers: number;
  readonly slots: number;
  /** Measured, after the first ones have warmed the code up. */
  readonly jobs: number;
  readonly warmUp: number;
  /** A change to the runtime that `jobs.ts` knows; none without it. */
  readonly change?: string;
  /** Milliseconds that each job keeps its thread busy. Default 0. */
  readonly spinMs?: number;
  /** Every how many jobs that is so. Default 1. */
  readonly spinEvery?: number;
  /** The setting `look_ahead`. */
  readonly lookAhead?: number;
  /** When the node is warm, and before it ends. */
  beforeJobs?(node: WorkerProcess): Promise<void>;
  afterJobs?(): Promise<void>;
}

/** What a node has done. */
export interface NodeWork {
  readonly seconds: number;
  readonly before: Work;
  readonly after: Work;
  /** CPU seconds of each of its threads, the busiest first. */
  readonly threadSeconds: readonly number[];
  readonly waitP99Ms: number;
}

/** Starts a node as its users do, on a queue filled beforehand, and lets it run jobs. */
export async function nodeWork(given: NodeGiven): Promise<NodeWork> {
  const { stand, jobs, warmUp } = given;
  await stand.empty();
  const folder = mkdtempSync(join(tmpdir(), "solid-jobs-experiment-"));
  const layout = layoutFor(warmUp + jobs);
  const marks = new MarksReader(folder, layout);
  const node = started(given, folder, marksEnvironment(folder, layout));
  const ran = async (total: number) => {
    const startedAt = performance.now();
    while (marks.ran().executed < total) {
      if (node.hasEnded || performance.now() - startedAt > longestMs) {
        throw new Error(`${marks.ran().executed} of ${total} jobs have run; ${node.said}`);
      }
      await Bun.sleep(pollMs);
    }
    return marks.ran().lastMs;
  };
  try {
    await node.untilReady();
    await (await staged(stand.client, { from: 0, count: warmUp }))();
    await ran(warmUp);
    const appear = await staged(stand.client, { from: warmUp, count: jobs });
    await given.beforeJobs?.(node);
    const [before, threads] = [await stand.work(), node.tree.threadSeconds()];
    const startMs = nowMs();
    await appear();
    const lastMs = await ran(warmUp + jobs);
    const after = await stand.work();
    const threadSeconds = [...node.tree.threadSeconds()].map(([id, end]) => end - (threads.get(id) ?? 0));
    const waits = marks.samples().filter(({ index }) => index >= warmUp);
    await given.afterJobs?.();
    await node.stop();
    assertOnce(marks, warmUp + jobs);
    return {
      ...{ seconds: (lastMs - startMs) / 1000, before, after },
      threadSeconds: threadSeconds.sort((a, b) => b - a),
      waitP99Ms: quantile(
        waits.map((sample) => sample.startMs - startMs),
        0.99,
      ),
    };
  } finally {
    await node.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** The same for each job. */
export async function nodeRun(given: NodeGiven): Promise<Reading> {
  const { seconds, before, after, threadSeconds, waitP99Ms } = await nodeWork(given);
  const { jobs } = given;
  return {
    jobsPerSecond: jobs / seconds,
    redisUs: (after.scriptUs - before.scriptUs) / jobs,
    redisCpuUs: (after.cpuUs - before.cpuUs) / jobs,
    workerUs: (threadSeconds.reduce((sum, each) => sum + each, 0) * 1e6) / jobs,
    bytesOut: (after.bytesRead - before.bytesRead) / jobs,
    bytesIn: (after.bytesWritten - before.bytesWritten) / jobs,
    waitMs: waitP99Ms,
  };
}

function started(given: NodeGiven, folder: string, marks: Record<string, string>): WorkerProcess {
  const { stand, workers, slots, change = "", spinMs = 0, spinEvery = 1, lookAhead } = given;
  const shape = { workers, slots, variant: "", text: `${workers} x ${slots}` };
  const options = [
    "-r",
    tasks,
    "--url",
    stand.server.url,
    "-c",
    String(workers),
    "-s",
    String(slots),
    "-t",
    "5",
  ];
  return new WorkerProcess({
    command: { argv: [process.execPath, program, ...options, "--channel", "default"] },
    ...{ shape, folder },
    env: {
      ...marks,
      ...{
        EXPERIMENT_CHANGE: change,
        EXPERIMENT_SPIN_MS: String(spinMs),
        EXPERIMENT_SPIN_EVERY: String(spinEvery),
      },
      ...(lookAhead === undefined ? {} : { SOLID_JOBS_LOOK_AHEAD: String(lookAhead) }),
    },
  });
}

function assertOnce(marks: MarksReader, jobs: number): void {
  const { executed, errors, duplicates } = marks.counts(jobs);
  if (executed === jobs && errors === 0 && duplicates === 0) return;
  throw new Error(
    `expected ${jobs} jobs to run once: ${executed} ran, ${errors} failed, ${duplicates} twice`,
  );
}
