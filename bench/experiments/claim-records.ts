import { comparedScripts } from "./compared-scripts.ts";
import type { Experiment } from "./experiment.ts";
import { cycleText, patchedCycle } from "./patched.ts";

const built = `claims[i * 2] = '{"task_id":"' .. id_texts[i] .. mark_token .. slot .. tail
        .. (attempt == 1 and '1' or string.format('%d', attempt)) .. ahead_mark`;

const fields = `{ task_id = ids[i], claim_token = token_base .. '.' .. slot, node_id = sub(KEYS[1], #prefix + 6),
        executor_id = executor, channel = names[runs[1] + 1], claimed_at = tonumber(now), attempt = attempt }`;

export const claimRecords: Experiment = {
  name: "claim-records",
  summary: "claims' records put together as text, against cjson.encode",
  run: comparedScripts({
    present: cycleText,
    "cjson.encode": patchedCycle([built, `claims[i * 2] = cjson.encode(${fields})`]),
  }),
};
