import type { RedisClient } from "bun";
import { comparedFeeders } from "./compared-scripts.ts";
import type { Experiment } from "./experiment.ts";
import { type Feeder, feederOf, loaded, nodeKey, presentArguments, presentReply } from "./feeding.ts";
import { cycleText, type Patch, patchedCycle } from "./patched.ts";

const oneList: Patch[] = [
  [
    "local list_base = KEYS[1] .. ':claimed:' .. field_base",
    "local list_base = KEYS[1] .. ':claimed:' .. field_base\nlocal worker_list = KEYS[1] .. ':claimed:' .. executor",
  ],
  ["if not settled[slot] then unsure[#unsure + 1] = list_base .. slot end", ""],
  ["local list = list_base .. slot\n      local payload", "local list = worker_list\n      local payload"],
];
const removal = `if is_plain and call('EXISTS', unpack(lists)) == acks then
    call('DEL', unpack(lists))`;

/** Settlements carry their payloads, behind all other arguments. */
const byPayload = patchedCycle(...oneList, [
  removal,
  "if is_plain then\n    for i = 1, acks do call('LREM', worker_list, -1, ARGV[#ARGV - acks + i]) end",
]);

/** Right only where jobs end in the order in which they were reserved. */
const byPlace = patchedCycle(...oneList, [
  removal,
  "if is_plain then\n    call('LTRIM', worker_list, 0, -1 - acks)",
]);

async function withPayloads(client: RedisClient): Promise<Feeder> {
  const sha = await loaded(client, byPayload);
  return async (turn) => {
    const payloads = turn.ended.map(({ payload }) => payload);
    const args = [...presentArguments(turn), ...payloads];
    return presentReply(await client.send("EVALSHA", [sha, "1", nodeKey, ...args]), turn);
  };
}

export const claimedLists: Experiment = {
  name: "claimed-lists",
  summary: "a list for each claim, against one for each worker with jobs found by their bytes or their order",
  run: comparedFeeders(
    {
      present: { feeder: feederOf(cycleText) },
      "one list, LREM": { feeder: withPayloads },
      "one list, in order": { feeder: feederOf(byPlace) },
    },
    { quantities: ["redisUs", "redisCpuUs", "bytesOut"] },
  ),
};
