import type { FileStage } from "../support/file-stage.ts";
import { resultOf } from "../support/program.ts";
import { quantile } from "../support/statistics.ts";
import { jobsOf, type Measure, type Row } from "./measure.ts";

const jobs = 200;
const workers = 8;
const idleMs = 10_000;
const target = { sameProcessMs: 10, otherProcessMs: 50, idlePercent: 1 };

/** What the program in `support/wake-main.ts` answers. */
export interface Waking {
  /** Of one core, the main thread included. */
  readonly idlePercent: number;
  readonly sameProcessMs: readonly number[];
  readonly otherProcessMs: readonly number[];
}

/** How soon idle workers begin what is published, and what they cost while there is nothing to do. */
export const waking: Measure<FileStage> = {
  name: "waking",
  run: (stage, knobs, log) =>
    stage.inFolder(async (folder) => {
      const data = await resultOf<Waking>("wake-main.ts", [folder, jobsOf(jobs, knobs), workers, idleMs]);
      const rows = [
        wakeRow("in the same process", data.sameProcessMs, target.sameProcessMs),
        wakeRow("in another process", data.otherProcessMs, target.otherProcessMs),
        {
          what: `${workers} idle workers and their conductor, for ${idleMs / 1000} s`,
          reached: `${data.idlePercent.toFixed(2)} % of a core`,
          target: `at most ${target.idlePercent} %`,
          isReached: data.idlePercent <= target.idlePercent,
        },
      ];
      for (const { what, reached } of rows) log(`${what}: ${reached}`);
      return { rows, data };
    }),
};

function wakeRow(where: string, ms: readonly number[], targetMs: number): Row {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(ms, share).toFixed(1));
  return {
    what: `published ${where} until begun by one of ${workers} idle workers`,
    reached: `p50 ${p50}, p99 ${p99}, max ${max} ms`,
    target: `p99 within ${targetMs} ms`,
    isReached: quantile(ms, 0.99) <= targetMs,
  };
}
