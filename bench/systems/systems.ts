import { bare } from "./bare/system.ts";
import { beeQueue } from "./bee-queue/system.ts";
import { bullmq, bullmqOnNode } from "./bullmq/system.ts";
import { bunqueue } from "./bunqueue/system.ts";
import { celeryGevent, celeryPrefork } from "./celery/system.ts";
import { groupmq } from "./groupmq/system.ts";
import { jigglerAtLeastOnce, jigglerAtMostOnce } from "./jiggler/system.ts";
import { ping } from "./ping/system.ts";
import { plainjob } from "./plainjob/system.ts";
import { raw } from "./raw/system.ts";
import { sidekiq } from "./sidekiq/system.ts";
import { solidJobs, solidJobsEmbedded } from "./solid-jobs/system.ts";
import type { System } from "./system.ts";

/** All that are measured, in the order of the tables: ours, those it is compared with, the yardsticks. */
export const systems: readonly System[] = [
  solidJobs,
  solidJobsEmbedded,
  bullmq,
  bullmqOnNode,
  beeQueue,
  groupmq,
  celeryPrefork,
  celeryGevent,
  sidekiq,
  jigglerAtLeastOnce,
  jigglerAtMostOnce,
  bunqueue,
  plainjob,
  bare,
  ping,
  raw,
];
