import { comparedFeeders } from "./compared-scripts.ts";
import type { Experiment } from "./experiment.ts";
import { feederOf } from "./feeding.ts";
import { cycleText, patchedCycle } from "./patched.ts";
import { payloadOf } from "./stand.ts";

const unlinking = patchedCycle(["call('DEL', unpack(lists))", "call('UNLINK', unpack(lists))"]);
const large = (index: number) => payloadOf(index, 8192);

export const unlink: Experiment = {
  name: "unlink",
  summary: "settled payloads removed by DEL, against UNLINK; also with payloads of 8 KiB",
  async run(compare, say) {
    const [del, other] = [{ feeder: feederOf(cycleText) }, { feeder: feederOf(unlinking) }];
    await comparedFeeders({ present: del, UNLINK: other }, { quantities: ["redisUs", "redisCpuUs"] })(
      compare,
      say,
    );
    await comparedFeeders(
      { "present, 8 KiB": { ...del, payload: large }, "UNLINK, 8 KiB": { ...other, payload: large } },
      { quantities: ["redisUs", "redisCpuUs"], at: [{ batch: 64, jobs: 16_000 }] },
    )(compare, say);
  },
};
