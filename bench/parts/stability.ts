import { nowMs } from "../marks/clock.ts";
import { type Bench, on, reachable } from "../method/bench.ts";
import { FollowingClient } from "../method/client-process.ts";
import { subjectOf } from "../method/compare.ts";
import { type Contender, latencies, type Measured, MeasuredRun } from "../method/measured-run.ts";
import { inFreshPlace, type Place } from "../method/place.ts";
import { problemOf } from "../method/record.ts";
import type { TreeSample } from "../method/tree.ts";
import { quantile } from "../report/statistics.ts";
import type { Part } from "./part.ts";

const concurrency = 8;
const perSecond = 400;
const pushEveryMs = 10;
const usualMinutes = 5;
const quickMinutes = 0.15;

/** Whether it stays as it is. */
export const stability: Part = {
  name: "stability",
  summary:
    "400 mixed jobs/s for 5 minutes (`--minutes`) at concurrency 8: lost, doubled and late jobs, memory; ours, and whom --systems names",
  async run(bench) {
    const minutes = bench.options.minutes ?? (bench.isQuick ? quickMinutes : usualMinutes);
    const contenders = contendersOf(bench, Math.round(perSecond * 60 * minutes));
    const repetitions = bench.options.repetitions ?? 1;
    bench.expect(contenders.length * repetitions);
    for (let repetition = 1; repetition <= repetitions; repetition++) {
      for (const contender of contenders) {
        const measured = await inFreshPlace(contender.system, bench.redis, (place) =>
          steady(contender, place),
        );
        bench.record({ ...subjectOf("stability", contender), repetition, ...measured });
      }
    }
  },
};

function contendersOf(bench: Bench, jobs: number): Contender[] {
  const systems = on(bench, "redis", "sqlite").filter(
    ({ role }) => role === "ours" || bench.options.systems !== undefined,
  );
  return reachable(bench, "stability", systems)
    .filter((system) => system.supports("mixed"))
    .flatMap((system) =>
      system.shapes(concurrency).map((shape): Contender => ({ system, shape, workload: "mixed", jobs })),
    );
}

async function steady(contender: Contender, place: Place): Promise<Measured> {
  const run = new MeasuredRun(contender, place);
  let client: FollowingClient | undefined;
  try {
    await run.worker.untilReady();
    client = await FollowingClient.start(contender.system, place.url);
    run.usage.start();
    const startMs = nowMs();
    const dueMs = (index: number) => startMs + (index / perSecond) * 1000;
    await push(client, contender.jobs, dueMs);
    await run.allEnded();
    const end = run.usage.stop();
    const remark = await run.worker.stop();
    const counts = run.counts();
    const metrics = {
      ...latencies(run.marks.samples(), dueMs),
      ...{ rssPeakMiB: run.usage.peakRssMiB, rssFinishMiB: end.rssMiB, cpuSeconds: end.cpuSeconds },
      rssGrowthMiB: growthOf(run.usage.samples),
    };
    return { problem: problemOf(counts), remark, counts, metrics };
  } catch (error) {
    return { problem: (error as Error).message, counts: run.counts(), metrics: {} };
  } finally {
    run.usage.stop();
    await client?.close();
    await run.worker.kill();
  }
}

/** Each index at its time, whether or not the ones before it have been published. */
async function push(client: FollowingClient, jobs: number, dueMs: (index: number) => number): Promise<void> {
  const answers = (async () => {
    for (let index = 0; index < jobs; index++) await client.published();
  })();
  for (let index = 0; index < jobs; await Bun.sleep(pushEveryMs)) {
    for (const now = nowMs(); index < jobs && dueMs(index) <= now; index++) client.send(index);
  }
  await answers;
}

/** From the time when all is warm (a fifth of the run) to its end, by medians of a tenth of the samples each. */
function growthOf(samples: readonly TreeSample[]): number {
  const part = (from: number, to: number) =>
    samples
      .slice(Math.floor(samples.length * from), Math.ceil(samples.length * to))
      .map(({ rssMiB }) => rssMiB);
  return quantile(part(0.9, 1), 0.5) - quantile(part(0.2, 0.3), 0.5);
}
