import type { Workload } from "../workloads/workload.ts";

/** How many jobs a worker process runs at a time, and in what. */
export interface Shape {
  /** Threads or processes that run jobs. */
  readonly workers: number;
  /** Jobs at a time in each of them. */
  readonly slots: number;
  /** Names the way where a system has several for one concurrency, such as `workers` and `slots`; else empty. */
  readonly variant: string;
  /** In the words of the system, such as `4 workers x 1` or `concurrency 4`. */
  readonly text: string;
}

/** A command line that starts workers. It runs in an empty folder of its own; its whole process tree is measured. */
export interface WorkerCommand {
  readonly argv: readonly string[];
  /** On top of PATH, HOME, NODE_ENV=production and the variables in `README.md`. */
  readonly env?: Readonly<Record<string, string>>;
  /** What its output (either stream) contains when it takes jobs; default `node started`. */
  readonly readyText?: string;
}

/** single: one awaited call after the other; hundred: 100 such calls in flight; bulk: 1,000 jobs a call. */
export type PublishMode = "single" | "hundred" | "bulk";

/** What a client's process is asked for, and answers with a line of JSON at the end of its output. */
export type ClientTask =
  /**
   * Publishes the jobs 0 to `jobs` - 1 by the fastest call it has, for workers that will run `concurrency` of
   * them at a time. Answers `{}`.
   */
  | { readonly kind: "fill"; readonly jobs: number; readonly concurrency: number }
  /** The same in one of its `publishModes`. Answers `{ "seconds": n }`, connecting left out. */
  | { readonly kind: "publish"; readonly jobs: number; readonly mode: PublishMode }
  /**
   * Prints `ready`, then publishes each index that comes on its input, a line each, one after the other, and
   * prints the time (epoch, ms) just before each call. Ends with its input.
   */
  | { readonly kind: "follow" }
  /** Plans `jobs` jobs for random times in `spreadMs` from `aheadMs` on. Answers `{ "dueMs": [...] }`. */
  | { readonly kind: "plan"; readonly jobs: number; readonly aheadMs: number; readonly spreadMs: number };

/** One of the systems that are measured. */
export interface System {
  /** As `--systems` takes it. */
  readonly name: string;
  readonly role: "ours" | "peer" | "yardstick";
  /** What its URL is: of the private Redis, of a fresh SQLite file, or none. */
  readonly engine: "redis" | "sqlite" | "none";
  /** Whether a job survives the crash of the worker that runs it: only such peers count for the goals. */
  readonly keepsJobs: boolean;
  /** Part of a measure's jobs that it gets, so that a run takes it a second or two: 1 for about 10,000 jobs/s. */
  readonly pace: number;
  readonly publishModes: readonly PublishMode[];
  /** Whether its client knows the task `plan`. */
  readonly plans: boolean;
  /** True where running workers do not see what another process publishes: their queue is read as they start. */
  readonly isAlone?: boolean;
  /** Why it cannot be measured here; undefined when it can. */
  absence(): string | undefined;
  /** Of it and its language, for the report. */
  versions(): Readonly<Record<string, string>>;
  /** The ways it can run this many jobs at a time; none when it cannot. */
  shapes(concurrency: number): readonly Shape[];
  supports(workload: Workload): boolean;
  worker(url: string, shape: Shape): WorkerCommand;
  /** The command line of its client; the task is JSON. */
  client(url: string, task: ClientTask): readonly string[];
}

/** Jobs of one call for many. */
export const chunk = 1000;
