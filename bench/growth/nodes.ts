import { type Dimension, jobsOf, type Knobs, type Point } from "./dimension.ts";
import { idling } from "./idling.ts";
import type { Rig } from "./rig.ts";
import { pointOf, round, warmedUp } from "./working.ts";

/** Each process compiles its code for itself, and learns how many short jobs it may take at once. */
const leastEach = 400;

/** Processes on one Redis. */
export const nodes: Dimension = {
  name: "nodes",
  unit: "nodes",
  title: "nodes (processes) on one Redis, 1 worker x 1 each: first idle, then they share no-op jobs",
  statement:
    "an idle node sends about 13 requests a second, and one more for each other node every 5 seconds; the more nodes share a channel, the fewer jobs each call takes along, up to what a job taken alone costs, 8 to 9 times as much",
  claims: [
    { of: "idleRequests", atMost: 2 },
    { of: "idleRedisPercentEach", atMost: 1.5 },
    { of: "redisUs", atMost: 9 },
  ],
  sizes: ({ isFull }) => (isFull ? [1, 2, 5, 10, 20, 50] : [1, 50]),
  measure: (rig, size, knobs) => measured(rig, size, knobs),
};

function measured(rig: Rig, size: number, knobs: Knobs): Promise<Point> {
  const jobs = Math.max(jobsOf(50_000, knobs), size * leastEach);
  return rig.site(jobs * 2, async (site) => {
    await site.start(size, { workers: 1, slots: 1 });
    const idle = await idling(site, knobs);
    await warmedUp(site, jobs);
    const busy = await round(site, { from: jobs, count: jobs });
    site.assertEachRanOnce(jobs * 2);
    return pointOf({ size, jobs, rounds: [busy], values: idle.values, alsoSeen: [idle.redis] });
  });
}
