import { type Dimension, jobsOf } from "./dimension.ts";
import { working } from "./working.ts";

/** Jobs at a time in one worker. */
export const slots: Dimension = {
  name: "slots",
  unit: "slots",
  title: "slots of one worker, no-op jobs",
  statement: "a job costs less the more of them share a call, and never more",
  claims: [
    { of: "redisUs", atMost: 1 },
    { of: "workerUs", atMost: 1 },
  ],
  sizes: ({ isFull }) => (isFull ? [1, 2, 5, 10, 20, 50, 100, 200] : [1, 5, 20, 200]),
  measure(rig, size, knobs) {
    const jobs = jobsOf(size === 1 ? 50_000 : 100_000, knobs);
    return working(rig, { size, node: { workers: 1, slots: size }, warmUp: jobs, jobs });
  },
};
