import { staged } from "./backlog.ts";
import type { Dimension, Point } from "./dimension.ts";
import type { Rig } from "./rig.ts";
import { measuredRound, pointOf, warmedUp } from "./working.ts";

const warmUp = 5000;

/** Jobs that come due at one moment. */
export const due: Dimension = {
  name: "due",
  unit: "planned and as many retries",
  title: "jobs that are due at once, planned ones and retries, until all have run (1 worker x 50)",
  statement: "a job that comes due costs the same however many come due with it",
  claims: [
    { of: "redisUs", atMost: 1.5 },
    { of: "workerUs", atMost: 1.5 },
  ],
  sizes: ({ isFull }) => [1000, 10_000, isFull ? 100_000 : 30_000],
  measure: (rig, size) => measured(rig, size),
};

function measured(rig: Rig, size: number): Promise<Point> {
  const rounds = size < 10_000 ? 5 : 1;
  const jobs = size * 2;
  return rig.site(warmUp + jobs * rounds, async (site) => {
    await site.start(1, { workers: 1, slots: 50 });
    await warmedUp(site, warmUp);
    const done = [];
    for (let i = 0; i < rounds; i++) {
      const from = warmUp + i * jobs;
      const place = (set: "planned" | "retries") => ({ set, atSeconds: Date.now() / 1000 });
      const planned = await staged(rig.client, { from, count: size }, place("planned"));
      const retries = await staged(rig.client, { from: from + size, count: size }, place("retries"));
      const appear = async () => void (await Promise.all([planned(), retries()]));
      done.push(await measuredRound(site, from + jobs, appear));
    }
    site.assertEachRanOnce(warmUp + jobs * rounds);
    return pointOf({ size, jobs: jobs * rounds, rounds: done });
  });
}
