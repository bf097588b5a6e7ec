import type { RedisClient } from "bun";
import { comparedFeeders } from "./compared-scripts.ts";
import type { Experiment } from "./experiment.ts";
import { type Feeder, feederOf, nodeKey, presentArguments, presentReply } from "./feeding.ts";
import { cycleText } from "./patched.ts";

const library = `#!lua name=solid_jobs_bench
redis.register_function{ function_name = 'bench_cycle', flags = { 'allow-oom' }, callback = function(KEYS, ARGV)
${cycleText.replace(/^#!lua[^\n]*\n/, "")}
end }`;

async function byFunction(client: RedisClient): Promise<Feeder> {
  await client.send("FUNCTION", ["LOAD", "REPLACE", library]);
  return async (turn) =>
    presentReply(await client.send("FCALL", ["bench_cycle", "1", nodeKey, ...presentArguments(turn)]), turn);
}

export const functions: Experiment = {
  name: "functions",
  summary: "the script by its digest (EVALSHA), against a function of Redis 7 (FCALL)",
  run: comparedFeeders(
    { present: { feeder: feederOf(cycleText) }, FCALL: { feeder: byFunction } },
    { quantities: ["redisUs", "redisCpuUs", "us"] },
  ),
};
