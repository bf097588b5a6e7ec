import { type Dimension, jobsOf, type Knobs, type Point } from "./dimension.ts";
import { idling } from "./idling.ts";
import type { Rig } from "./rig.ts";
import { pointOf, round, warmedUp } from "./working.ts";

/** Channels that a node serves. */
export const channels: Dimension = {
  name: "channels",
  unit: "channels",
  title:
    "channels of one node (1 worker x 10): idle, then jobs in all of them, then in the last of them only",
  statement:
    "with 64 channels a job costs at most twice as much as with one, since a call takes its jobs from several lists or asks empty ones on the way; each channel of an idle node is a connection and a request every 2 or 3 seconds",
  claims: [
    { of: "redisUs", atMost: 2 },
    { of: "workerUs", atMost: 2 },
    { of: "lastRedisUs", atMost: 2.5 },
    { of: "idleRequests", atMost: 4 },
  ],
  sizes: ({ isFull }) => (isFull ? [1, 2, 4, 8, 16, 32, 64] : [1, 8, 64]),
  measure: (rig, size, knobs) => measured(rig, size, knobs),
};

function measured(rig: Rig, size: number, knobs: Knobs): Promise<Point> {
  const served = Array.from({ length: size }, (_, i) => `channel-${i}`);
  const jobs = jobsOf(50_000, knobs, 0.3);
  return rig.site(jobs * 3, async (site) => {
    await site.start(1, { workers: 1, slots: 10, channels: served });
    const idle = await idling(site, knobs);
    await warmedUp(site, jobs, { channels: served });
    const all = await round(site, { from: jobs, count: jobs, channels: served });
    const last = await round(site, { from: jobs * 2, count: jobs, channels: served.slice(-1) });
    site.assertEachRanOnce(jobs * 3);
    const values = {
      ...idle.values,
      ...{ lastRedisUs: last.redis.cpuUs / jobs, lastWorkerUs: last.nodesCpuUs / jobs },
    };
    return pointOf({ size, jobs, rounds: [all], values, alsoSeen: [idle.redis, last.redis] });
  });
}
