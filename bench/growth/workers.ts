import { type Dimension, jobsOf } from "./dimension.ts";
import { working } from "./working.ts";

/** Each thread compiles its code for itself. */
const warmUpEach = 250;

/** Threads of one node, a job at a time in each. */
export const workers: Dimension = {
  name: "workers",
  unit: "workers",
  title: "workers of one node, one slot each, no-op jobs",
  statement:
    "a job costs Redis no more with many workers; the workers themselves spend more on each the more of them share the cores",
  claims: [
    { of: "redisUs", atMost: 1.3 },
    { of: "workerUs", atMost: 4 },
  ],
  sizes: ({ isFull }) => (isFull ? [1, 2, 4, 8, 16, 32, 64] : [1, 4, 16, 64]),
  measure(rig, size, knobs) {
    const jobs = jobsOf(50_000, knobs);
    const warmUp = Math.max(jobs, size * warmUpEach);
    return working(rig, { size, node: { workers: size, slots: 1 }, warmUp, jobs });
  },
};
