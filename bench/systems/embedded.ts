import { bunqueue } from "./bunqueue/system.ts";
import { plainjob } from "./plainjob/system.ts";
import { raw } from "./raw/system.ts";
import { solidJobs } from "./solid-jobs/system.ts";
import type { System } from "./system.ts";

/** A system that keeps its jobs in an SQLite file, and the table of them. */
export interface EmbeddedSystem {
  readonly system: System;
  readonly table: string;
  /** What its jobs, as its call for many stores them, go without beside ours. */
  readonly bulkLeavesOut: string;
}

/** Ours first; then those it is compared with, and the yardstick of the machine. */
export const embeddedSystems: readonly EmbeddedSystem[] = [
  { system: solidJobs, table: "jobs", bulkLeavesOut: "" },
  {
    system: bunqueue,
    table: "jobs",
    bulkLeavesOut: "without validation of arguments",
  },
  {
    system: plainjob,
    table: "plainjob_jobs",
    bulkLeavesOut: "without validation, size limit, retries, waking of workers",
  },
  { system: raw, table: "jobs", bulkLeavesOut: "the inserts alone" },
];
export { bunqueue, plainjob, raw, solidJobs };
