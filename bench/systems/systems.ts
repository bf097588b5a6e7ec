import { bullmq } from "./bullmq/system.ts";
import { solidJobs } from "./solid-jobs/system.ts";
import type { System } from "./system.ts";

/** Ours first; the others are what it is compared with. */
export const systems: readonly System[] = [solidJobs, bullmq];
export { bullmq, solidJobs };
