import { join } from "node:path";
import type { Bench } from "../method/bench.ts";
import { resultOf } from "../method/program.ts";
import { inTemporaryFolder } from "../method/temporary-folder.ts";
import type { Metric } from "../report/metrics.ts";
import { quantile } from "../report/statistics.ts";

const jobs = 200;
const workers = 8;
const idleMs = 10_000;

/** What the program in `wake-main.ts` answers. */
export interface Waking {
  /** Of one core, the main thread included. */
  readonly idlePercent: number;
  readonly sameProcessMs: readonly number[];
  readonly otherProcessMs: readonly number[];
}

/** How soon idle workers of a node inside an application begin what is published, and what they cost. */
export async function recordWaking(bench: Bench, part: string): Promise<void> {
  bench.expect(3);
  const published = Math.max(1, Math.round(jobs * bench.options.scale));
  await inTemporaryFolder(async (folder) => {
    const program = join(import.meta.dir, "wake-main.ts");
    const data = await resultOf<Waking>(program, [folder, published, workers, idleMs]);
    const record = (workload: string, metrics: Partial<Record<Metric, number>>) =>
      bench.record({
        ...{ part, workload, system: "solid-jobs-embedded", variant: "workers", shape: `${workers} x 1` },
        ...{ workers, concurrency: workers, jobs: published, repetition: 1 },
        ...{ problem: undefined, counts: undefined, metrics },
      });
    record("wake, same process", waits(data.sameProcessMs));
    record("wake, other process", waits(data.otherProcessMs));
    record("idle in an application", { idlePercent: data.idlePercent });
  });
}

function waits(ms: readonly number[]): Partial<Record<Metric, number>> {
  return {
    ...{ queueP50Ms: quantile(ms, 0.5), queueP95Ms: quantile(ms, 0.95), queueP99Ms: quantile(ms, 0.99) },
  };
}
