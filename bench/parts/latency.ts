import { type Bench, on, reachable } from "../method/bench.ts";
import { FollowingClient } from "../method/client-process.ts";
import { inTurn, subjectOf } from "../method/compare.ts";
import { type Contender, latencies, type Measured, MeasuredRun } from "../method/measured-run.ts";
import { inFreshPlace, type Place } from "../method/place.ts";
import { problemOf } from "../method/record.ts";
import type { Part } from "./part.ts";

const concurrency = 2;
/** Connect, load scripts and warm up both sides; not counted. */
const warmUp = 20;
const settleMs = 500;
/** A system that takes long gets fewer jobs, but so many beyond the warm-up. */
const longestMs = { quick: 5000, usual: 60_000 };
const leastJobs = 20;
const giveUpMs = 30_000;

/** How soon an idle worker begins. */
export const latency: Part = {
  name: "latency",
  summary: "from publishing to the start of the job on idle workers, one job at a time from another process",
  async run(bench) {
    const contenders = contendersOf(bench);
    const repetitions = bench.isQuick ? 1 : Math.min(3, bench.repetitions);
    bench.expect(contenders.length * repetitions);
    for (let round = 0; round < repetitions; round++) {
      for (const contender of inTurn(contenders, round)) {
        const measured = await inFreshPlace(contender.system, bench.redis, (place) =>
          oneByOne(contender, place, bench.isQuick ? longestMs.quick : longestMs.usual),
        );
        const subject = { ...subjectOf("latency", contender), workload: "publish to start" };
        bench.record({ ...subject, repetition: round + 1, ...measured });
      }
    }
  },
};

function contendersOf(bench: Bench): Contender[] {
  const jobs = warmUp + Math.max(1, Math.round((bench.isQuick ? 300 : 1000) * bench.options.scale));
  const systems = on(bench, "redis", "sqlite").filter(({ role }) => role !== "yardstick");
  return reachable(bench, "latency", systems).flatMap((system) =>
    system.shapes(concurrency).map((shape) => ({ system, shape, workload: "noop", jobs })),
  );
}

async function oneByOne(contender: Contender, place: Place, mostMs: number): Promise<Measured> {
  const run = new MeasuredRun(contender, place);
  let client: FollowingClient | undefined;
  try {
    await run.worker.untilReady();
    client = await FollowingClient.start(contender.system, place.url);
    await Bun.sleep(settleMs);
    const publishedMs: number[] = [];
    const until = performance.now() + mostMs;
    for (let index = 0; index < contender.jobs; index++) {
      if (index >= warmUp + leastJobs && performance.now() > until) break;
      client.send(index);
      publishedMs.push(await client.published());
      await ended(run, index + 1);
      await Bun.sleep(1 + Math.random() * 4);
    }
    const { rssMiB } = run.worker.tree.sample();
    await client.close();
    const remark = await run.worker.stop();
    const counts = run.counts(publishedMs.length);
    const samples = run.marks.samples().filter(({ index }) => index >= warmUp);
    const metrics = { ...latencies(samples, (index) => publishedMs[index]!), rssFinishMiB: rssMiB };
    return { problem: problemOf(counts), remark, counts, metrics };
  } catch (error) {
    return { problem: (error as Error).message, counts: run.counts(), metrics: {} };
  } finally {
    await client?.close();
    await run.worker.kill();
  }
}

/** @throws Error when the job that was just published does not run within 30 s */
async function ended(run: MeasuredRun, jobs: number): Promise<void> {
  const until = performance.now() + giveUpMs;
  for (;;) {
    const { executed, errors } = run.marks.ran();
    if (executed + errors >= jobs) return;
    if (performance.now() > until)
      throw new Error(`job ${jobs - 1} was published and did not run within 30 s`);
    await Bun.sleep(1);
  }
}
