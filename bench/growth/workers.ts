import { type Dimension, jobsOf } from "./dimension.ts";
import { working } from "./working.ts";

/** Each thread compiles its code for itself, and learns how many short jobs it may take at once. */
const leastEach = 400;

/** Threads of one node, a job at a time in each. */
export const workers: Dimension = {
  name: "workers",
  unit: "workers",
  title: "workers of one node, one slot each, no-op jobs",
  statement:
    "the more workers share a channel, the fewer jobs each call takes along, which costs Redis more for each, up to what a job taken alone costs; a thread with few jobs spends part of its time on compiling its code",
  claims: [
    { of: "redisUs", atMost: 4 },
    { of: "workerUs", atMost: 12 },
  ],
  sizes: ({ isFull }) => (isFull ? [1, 2, 4, 8, 16, 32, 64] : [1, 4, 16, 64]),
  measure(rig, size, knobs) {
    const jobs = Math.max(jobsOf(50_000, knobs), size * leastEach);
    return working(rig, { size, node: { workers: size, slots: 1 }, warmUp: jobs, jobs });
  },
};
