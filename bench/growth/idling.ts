import type { Knobs, Values } from "./dimension.ts";
import type { RedisWork } from "./meter.ts";
import type { GrowthSite } from "./rig.ts";

/** Beats come every 3 s, other duties more rarely: what is measured is several of them. */
const seconds = { full: 30, short: 9 } as const;
const settleMs = 1500;

/** Lets a site's nodes do nothing for a while, and tells what each of them and Redis took. */
export async function idling(site: GrowthSite, knobs: Knobs): Promise<{ values: Values; redis: RedisWork }> {
  const span = knobs.isFull ? seconds.full : seconds.short;
  const nodes = site.nodes.length;
  await Bun.sleep(settleMs);
  const cpuBefore = site.cpuUs();
  const startMs = performance.now();
  const redis = await site.rig.meter.during(() => Bun.sleep(span * 1000));
  const cpuUs = site.cpuUs() - cpuBefore;
  const elapsedUs = (performance.now() - startMs) * 1000;
  const redisPercent = redis.cpuUs / redis.seconds / 1e4;
  const values = {
    idleRequests: redis.requests / redis.seconds / nodes,
    idleRedisPercent: redisPercent,
    idleRedisPercentEach: redisPercent / nodes,
    idleNodePercent: (cpuUs / elapsedUs / nodes) * 100,
    connections: redis.connections,
  };
  return { values, redis };
}
