import { type Dimension, jobsOf } from "./dimension.ts";
import { working } from "./working.ts";

const slots = 50;

/** Jobs that wait in one channel. */
export const ready: Dimension = {
  name: "ready",
  unit: "jobs ready",
  title: `jobs ready in one channel (1 worker x ${slots})`,
  statement: "a job costs Redis and the worker the same however many are ready",
  claims: [
    { of: "redisUs", atMost: 1.5 },
    { of: "workerUs", atMost: 1.5 },
  ],
  sizes: ({ isFull }) => [1000, 10_000, 100_000, ...(isFull ? [1_000_000] : [])],
  measure(rig, size, knobs) {
    // A small backlog is over before it can be measured: it is run several times.
    const rounds = Math.min(30, Math.ceil(jobsOf(100_000, knobs) / size));
    return working(rig, { size, node: { workers: 1, slots }, warmUp: 20_000, jobs: size, rounds });
  },
};
