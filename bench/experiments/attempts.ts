import { comparedScripts } from "./compared-scripts.ts";
import type { Experiment } from "./experiment.ts";
import { cycleText, patchedCycle } from "./patched.ts";

/** As the Ruby member does: every reservation is counted under the job's id, every settlement takes the count away. */
const counting = patchedCycle(
  [
    `if call('EXISTS', attempts_key, paused_key) > 0 then
  has_attempts, has_paused = call('EXISTS', attempts_key) == 1, call('EXISTS', paused_key) == 1
end`,
    "has_paused = call('EXISTS', paused_key) == 1",
  ],
  [
    "payloads[used], ids[used], id_texts[used], failure_counts[used] = payload, id, id, failures",
    `payloads[used], ids[used], id_texts[used], failure_counts[used] = payload, id, id, failures
      call('HINCRBY', attempts_key, id, 1)`,
  ],
  [
    "call('DEL', unpack(lists))",
    `call('DEL', unpack(lists))
    local done = {}
    for i = 1, acks do done[i] = string.match(records[i], '"task_id":"([^"]*)"') end
    call('HDEL', attempts_key, unpack(done))`,
  ],
);

export const attempts: Experiment = {
  name: "attempts",
  summary: "attempts counted from failures alone, against a count written for every reservation",
  run: comparedScripts({ present: cycleText, "HINCRBY for each job": counting }),
};
