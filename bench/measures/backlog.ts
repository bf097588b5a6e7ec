import type { FileStage } from "../support/file-stage.ts";
import { resultOf } from "../support/program.ts";
import { quantile } from "../support/statistics.ts";
import { jobsOf, type Measure } from "./measure.ts";

const few = 1000;
const many = 1_000_000;
const rounds = 40;
const targetPercent = 10;

/** Mean microseconds of a cycle, a number for each round. */
export interface BacklogTimes {
  readonly slots: number;
  readonly fewUs: readonly number[];
  readonly manyUs: readonly number[];
}

/** How much longer a cycle takes with a million jobs ready than with a thousand. */
export const backlog: Measure<FileStage> = {
  name: "backlog",
  async run(stage, knobs, log) {
    const ready = Math.max(few, jobsOf(many, knobs));
    const results = await stage.inFolder((folder) =>
      resultOf<BacklogTimes[]>("backlog-main.ts", [folder, few, ready, rounds]),
    );
    const rows = results.map(({ slots, fewUs, manyUs }) => {
      const [usual, loaded] = [quantile(fewUs, 0.5), quantile(manyUs, 0.5)];
      const percent = (loaded / usual - 1) * 100;
      return {
        what: `a cycle of ${slots} with ${ready} jobs ready against ${few}`,
        reached: `${percent.toFixed(1)} % slower (${loaded.toFixed(0)} and ${usual.toFixed(0)} us)`,
        target: `under ${targetPercent} %`,
        isReached: percent < targetPercent,
      };
    });
    for (const { what, reached } of rows) log(`${what}: ${reached}`);
    return { rows, data: { few, many: ready, results } };
  },
};
