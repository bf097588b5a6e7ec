import type { RedisClient } from "bun";
import { comparedFeeders } from "./compared-scripts.ts";
import type { Experiment } from "./experiment.ts";
import {
  executor,
  type Feeder,
  feederOf,
  type Held,
  loaded,
  node,
  nodeKey,
  prefix,
  type Turn,
} from "./feeding.ts";
import { cycleText, patchedCycle } from "./patched.ts";
import formerText from "./scripts/cycle-before.lua" with { type: "text" };
import { channel } from "./stand.ts";

/** The arguments of the script as it was before its usual call ran straight through. */
function formerArguments({ nonce, ended, slots }: Turn): string[] {
  const settlements = ended.flatMap(({ slot, token }) => [String(slot), token, "ack", "", "0", ""]);
  return [
    ...[nonce, prefix, node, executor.executor, executor.generation, "0", "10000", "15552000", "1048576"],
    ...[String(ended.length), ...settlements],
    ...[String(slots.length), ...slots.map(String), "1", channel, String(slots.length)],
  ];
}

async function former(client: RedisClient): Promise<Feeder> {
  const sha = await loaded(client, formerText);
  return async (turn) => {
    const args = formerArguments(turn);
    const reply = (await client.send("EVALSHA", [sha, "1", nodeKey, ...args])) as [string, ...unknown[]];
    const reserved = reply[9] as (number | string)[];
    const held: Held[] = [];
    for (let at = 0; at < reserved.length; at += 4) {
      const slot = reserved[at] as number;
      held.push({ slot, token: `${turn.nonce}.${slot}`, payload: reserved[at + 3] as string });
    }
    return held;
  };
}

/** The functions of the rarer block are made in every call, as a script does that defines them first. */
const allMade = patchedCycle([
  "local take_from = take_plain",
  "draw = make_draw()\n  local take_from = take_plain",
]);

export const formerScript: Experiment = {
  name: "former-script",
  summary: "the usual call straight through and closures made when needed, against the script before",
  run: comparedFeeders(
    {
      present: { feeder: feederOf(cycleText) },
      "all closures made": { feeder: feederOf(allMade) },
      "the script before": { feeder: former },
    },
    { quantities: ["redisUs", "redisCpuUs", "workerUs", "bytesOut", "bytesIn"] },
  ),
};
