import { inClient } from "../support/client-process.ts";
import { spread, summaryOf } from "../support/statistics.ts";
import { chunk } from "../systems/system.ts";
import { systems } from "../systems/systems.ts";
import { info, inTurn, jobsOf, type Measure } from "./measure.ts";

const kinds = [
  { kind: "publish-many", jobs: 100_000, text: `in calls of ${chunk}` },
  { kind: "publish-one-by-one", jobs: 10_000, text: "one after the other" },
] as const;

/** Publications a second of a fresh process, with nobody working. */
export const publishing: Measure = {
  name: "publishing",
  async run(stage, knobs, log) {
    const rates = new Map<string, number[]>();
    for (const { kind, jobs, text } of kinds) {
      for (let round = 0; round < knobs.repetitions; round++) {
        for (const system of inTurn(systems, round)) {
          await stage.server.send("FLUSHALL");
          const task = { kind, jobs: jobsOf(jobs, knobs) };
          const { perSecond } = await inClient(system, stage.url, task);
          const what = `published/s ${text}: ${system.name}`;
          rates.set(what, [...(rates.get(what) ?? []), perSecond]);
          log(`${what}: ${Math.round(perSecond)}`);
        }
      }
    }
    const rows = [...rates].map(([what, values]) => info(what, spread(summaryOf(values))));
    return { rows, data: Object.fromEntries(rates) };
  },
};
