import { join } from "node:path";
import type { Bench } from "../method/bench.ts";
import { resultOf } from "../method/program.ts";
import { inTemporaryFolder } from "../method/temporary-folder.ts";
import { quantile } from "../report/statistics.ts";

const few = 1000;
const many = 1_000_000;
const rounds = 40;

/** Mean microseconds of a cycle, a number for each round. */
export interface BacklogTimes {
  readonly slots: number;
  readonly fewUs: readonly number[];
  readonly manyUs: readonly number[];
}

/** How much longer a cycle takes with a million jobs ready than with a thousand. */
export async function recordBacklog(bench: Bench, part: string): Promise<void> {
  const ready = Math.max(few, Math.round(many * bench.options.scale));
  await inTemporaryFolder(async (folder) => {
    const program = join(import.meta.dir, "backlog-main.ts");
    bench.expect(2);
    for (const times of await resultOf<BacklogTimes[]>(program, [folder, few, ready, rounds])) {
      const backlogPercent = (quantile(times.manyUs, 0.5) / quantile(times.fewUs, 0.5) - 1) * 100;
      bench.record({
        ...{ part, workload: `a cycle with ${ready} ready`, system: "solid-jobs-embedded", variant: "slots" },
        ...{ shape: `1 x ${times.slots}`, workers: 1, concurrency: times.slots, jobs: ready, repetition: 1 },
        ...{ problem: undefined, counts: undefined, metrics: { backlogPercent } },
      });
    }
  });
}
