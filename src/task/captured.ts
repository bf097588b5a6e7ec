import { ConfigurationError } from "../foundation/errors.ts";
import type { CapturedJob, TaskClass } from "./types.ts";

/** What a test mode keeps of the jobs of each class. */
export interface CapturedJobs {
  of(taskClass: TaskClass): readonly CapturedJob[];
  clear(taskClass: TaskClass): void;
  /** Takes the oldest one out and runs it. @throws what the task throws */
  executeNext(taskClass: TaskClass): Promise<unknown>;
}

/** Where the lab leaves them; undefined outside of a test mode. On `globalThis` for two package copies. */
const slotKey = Symbol.for("solid-jobs.captured");

type Slot = { [slotKey]?: () => CapturedJobs | undefined };

export function provideCapturedJobs(source: () => CapturedJobs | undefined): void {
  (globalThis as Slot)[slotKey] = source;
}

/** @throws ConfigurationError outside of a test mode */
export function capturedJobs(method: string): CapturedJobs {
  const jobs = (globalThis as Slot)[slotKey]?.();
  if (jobs !== undefined) return jobs;
  throw new ConfigurationError(
    `${method}() needs a test mode: call lab.testing("capture") first, with import { lab } from "solid-jobs/lab"`,
    { code: "LAB" },
  );
}
