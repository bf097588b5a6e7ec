import type { RedisClient } from "bun";
import { comparedFeeders } from "./compared-scripts.ts";
import type { Experiment } from "./experiment.ts";
import { type Feeder, feederOf, type Turn } from "./feeding.ts";
import { cycleText } from "./patched.ts";

/** A turn for each slot. */
function apart({ nonce, ended, slots }: Turn): Turn[] {
  return slots.map((slot) => ({
    nonce: `${nonce}-${slot}`,
    ended: ended.filter((held) => held.slot === slot),
    slots: [slot],
  }));
}

async function pipelined(client: RedisClient): Promise<Feeder> {
  const feeder = await feederOf(cycleText)(client);
  return async (turn) => (await Promise.all(apart(turn).map(feeder))).flat();
}

async function oneByOne(client: RedisClient): Promise<Feeder> {
  const feeder = await feederOf(cycleText)(client);
  return async (turn) => {
    const held: Awaited<ReturnType<Feeder>>[number][] = [];
    for (const each of apart(turn)) held.push(...(await feeder(each)));
    return held;
  };
}

export const slotsInOneCall: Experiment = {
  name: "slots-in-one-call",
  summary: "one call for 64 slots, against a call for each slot",
  run: comparedFeeders(
    {
      present: { feeder: feederOf(cycleText) },
      "a call for each, in one write": { feeder: pipelined, enableAutoPipelining: true },
      "a call for each, one by one": { feeder: oneByOne },
    },
    { quantities: ["redisUs", "redisCpuUs", "workerUs", "us"], at: [{ batch: 64, jobs: 16_000 }] },
  ),
};
