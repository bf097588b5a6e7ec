import { staged } from "./backlog.ts";
import { type Dimension, jobsOf } from "./dimension.ts";
import { working } from "./working.ts";

/** Jobs that are not due for long, planned ones and retries: what they cost the others. */
export const parked: Dimension = {
  name: "parked",
  unit: "planned and as many retries",
  title: "jobs that are not due, while others run (1 worker x 50)",
  statement: "jobs that are not due cost those that run nothing",
  claims: [
    { of: "redisUs", atMost: 1.3 },
    { of: "workerUs", atMost: 1.3 },
  ],
  sizes: () => [0, 1000, 100_000],
  measure(rig, size, knobs) {
    const atSeconds = Date.now() / 1000 + 86_400;
    return working(rig, {
      ...{ size, node: { workers: 1, slots: 50 }, warmUp: 20_000, jobs: jobsOf(100_000, knobs) },
      async before(client) {
        for (const set of ["planned", "retries"] as const) {
          if (size === 0) continue;
          const appear = await staged(client, { from: 0, count: size }, { set, atSeconds });
          await appear();
        }
      },
    });
  },
};
