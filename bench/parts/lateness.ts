import { notInShort, on, reachable } from "../method/bench.ts";
import { inClient } from "../method/client-process.ts";
import { inTurn, subjectOf } from "../method/compare.ts";
import { type Contender, type Measured, MeasuredRun } from "../method/measured-run.ts";
import { inFreshPlace, type Place } from "../method/place.ts";
import { problemOf } from "../method/record.ts";
import { quantile } from "../report/statistics.ts";
import type { Part } from "./part.ts";

const concurrency = 10;
const planned = 1000;
const aheadMs = 2000;
const spreadMs = 8000;

/** Whether what is due is begun in time. */
export const lateness: Part = {
  name: "lateness",
  summary:
    "how late 1,000 jobs begin that are due at random times within 8 s (not in a short run of all parts)",
  async run(bench) {
    if (bench.isQuick) return notInShort(bench, "lateness");
    const jobs = Math.max(1, Math.round(planned * bench.options.scale));
    const contenders = reachable(
      bench,
      "lateness",
      on(bench, "redis", "sqlite").filter(({ plans }) => plans),
    ).flatMap((system) =>
      system.shapes(concurrency).map((shape): Contender => ({ system, shape, workload: "noop", jobs })),
    );
    const repetitions = Math.min(2, bench.repetitions);
    bench.expect(contenders.length * repetitions);
    for (let round = 0; round < repetitions; round++) {
      for (const contender of inTurn(contenders, round)) {
        const measured = await inFreshPlace(contender.system, bench.redis, (place) => due(contender, place));
        const subject = { ...subjectOf("lateness", contender), workload: "due to start" };
        bench.record({ ...subject, repetition: round + 1, ...measured });
      }
    }
  },
};

async function due(contender: Contender, place: Place): Promise<Measured> {
  const run = new MeasuredRun(contender, place);
  try {
    await run.worker.untilReady();
    const task = { kind: "plan", jobs: contender.jobs, aheadMs, spreadMs } as const;
    const { dueMs } = await inClient<{ dueMs: number[] }>(contender.system, place.url, task);
    await run.allEnded();
    const remark = await run.worker.stop();
    const counts = run.counts();
    const late = run.marks.samples().map(({ index, startMs }) => startMs - dueMs[index]!);
    const metrics = { latenessP50Ms: quantile(late, 0.5), latenessP99Ms: quantile(late, 0.99) };
    return { problem: problemOf(counts), remark, counts, metrics };
  } catch (error) {
    return { problem: (error as Error).message, counts: run.counts(), metrics: {} };
  } finally {
    await run.worker.kill();
  }
}
