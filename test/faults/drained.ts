import type { World } from "./world/world.ts";

const drainedTimes = 4;

/**
 * Nothing is stored but in the archive. Seen several times in a row: it is looked at place by place, and what moves
 * meanwhile can be missed once.
 *
 * @throws Error when it is not so within the time
 */
export async function drained(world: World, limitMs: number): Promise<void> {
  const catalog = world.catalog();
  const isEmpty = async () => {
    const { ready, planned, retrying } = await catalog.counters();
    if (ready + planned + retrying > 0) return false;
    for await (const _ of catalog.claims()) return false;
    return true;
  };
  let times = 0;
  const isDrained = async () => {
    times = (await isEmpty()) ? times + 1 : 0;
    return times === drainedTimes;
  };
  try {
    await world.until("all jobs to be done", isDrained, limitMs);
  } finally {
    await catalog.close();
  }
}
