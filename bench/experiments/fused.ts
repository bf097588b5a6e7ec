import type { RedisClient } from "bun";
import { comparedFeeders } from "./compared-scripts.ts";
import type { Experiment } from "./experiment.ts";
import { type Feeder, feederOf, type Turn } from "./feeding.ts";
import { cycleText } from "./patched.ts";

function halves({ nonce, ended, slots }: Turn): { settle: Turn; reserve: Turn } {
  return { settle: { nonce: `${nonce}-s`, ended, slots: [] }, reserve: { nonce, ended: [], slots } };
}

async function pipelined(client: RedisClient): Promise<Feeder> {
  const feeder = await feederOf(cycleText)(client);
  return async (turn) => {
    const { settle, reserve } = halves(turn);
    const [, held] = await Promise.all([feeder(settle), feeder(reserve)]);
    return held;
  };
}

async function apart(client: RedisClient): Promise<Feeder> {
  const feeder = await feederOf(cycleText)(client);
  return async (turn) => {
    const { settle, reserve } = halves(turn);
    await feeder(settle);
    return feeder(reserve);
  };
}

export const fused: Experiment = {
  name: "fused",
  summary: "settling and reserving in one script, against two in one write, and two round trips",
  run: comparedFeeders(
    {
      present: { feeder: feederOf(cycleText) },
      "two scripts in one write": { feeder: pipelined, enableAutoPipelining: true },
      "two round trips": { feeder: apart },
    },
    { quantities: ["redisUs", "redisCpuUs", "workerUs", "us"] },
  ),
};
