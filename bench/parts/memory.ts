import { type Bench, reachable } from "../method/bench.ts";
import { inTurn, jobsAt, subjectOf } from "../method/compare.ts";
import { type Contender, fill, type Measured, MeasuredRun } from "../method/measured-run.ts";
import { inFreshPlace, type Place } from "../method/place.ts";
import { problemOf } from "../method/record.ts";
import type { System } from "../systems/system.ts";
import type { Part } from "./part.ts";

/** What workers take when they have started, at most, and when they have worked. */
export const memory: Part = {
  name: "memory",
  summary: "memory of the process tree at 1, 2, 4 and 8 workers: idle, at most, and after many no-op jobs",
  async run(bench) {
    const contenders = contendersOf(bench);
    const repetitions = bench.isQuick ? 1 : Math.min(3, bench.repetitions);
    const settleMs = bench.isQuick ? 1500 : 3000;
    bench.expect(contenders.length * repetitions);
    for (let round = 0; round < repetitions; round++) {
      for (const contender of inTurn(contenders, round)) {
        const measured = await inFreshPlace(contender.system, bench.redis, (place) =>
          loaded(contender, place, settleMs),
        );
        bench.record({ ...subjectOf("memory", contender), repetition: round + 1, ...measured });
      }
    }
  },
};

function contendersOf(bench: Bench): Contender[] {
  const counts = [1, 2, 4, 8];
  const candidates = bench.systems.filter(({ role, name }) => role !== "yardstick" || name === "bare");
  const systems = reachable(bench, "memory", candidates);
  return counts.flatMap((concurrency) =>
    systems
      .filter((system) => isMeasured(bench, system, concurrency))
      .flatMap((system) => {
        const point = { workload: "noop", concurrency, jobs: 20_000, paced: "each" } as const;
        const jobs = jobsAt(point, system, bench.options.scale);
        // Where there are threads, they are what is counted; one thread with slots is in `throughput`.
        const shapes = system.shapes(concurrency).filter(({ variant }) => variant !== "slots");
        return shapes.map((shape): Contender => ({ system, shape, workload: "noop", jobs }));
      }),
  );
}

/** In a short run of all parts: the peers at 8, and what the memory of a further worker is reckoned from. */
function isMeasured({ isQuick }: Bench, { role }: System, concurrency: number): boolean {
  return !isQuick || concurrency === 8 || (concurrency === 1 && role !== "peer");
}

async function loaded(contender: Contender, place: Place, settleMs: number): Promise<Measured> {
  const run = new MeasuredRun(contender, place);
  try {
    await run.worker.untilReady();
    await Bun.sleep(settleMs);
    const start = run.usage.start();
    // Without a queue, workers have nothing to run: they only sit there.
    const hasQueue = contender.system.supports(contender.workload);
    if (hasQueue) {
      await fill(contender, place);
      await run.allEnded();
      await Bun.sleep(settleMs);
    }
    const end = run.usage.stop();
    const remark = await run.worker.stop();
    const counts = hasQueue ? run.counts() : undefined;
    const metrics = {
      ...{ rssStartMiB: start.rssMiB, rssPeakMiB: run.usage.peakRssMiB, rssFinishMiB: end.rssMiB },
      ...{ pssStartMiB: start.pssMiB, pssPeakMiB: run.usage.peakPssMiB, pssFinishMiB: end.pssMiB },
    };
    const problem = counts === undefined ? undefined : problemOf(counts);
    return { problem, remark, counts, metrics };
  } catch (error) {
    return { problem: (error as Error).message, counts: run.counts(), metrics: {} };
  } finally {
    run.usage.stop();
    await run.worker.kill();
  }
}
