import type { Bench } from "../method/bench.ts";
import { subjectOf } from "../method/compare.ts";
import { CpuWatch } from "../method/cpu-watch.ts";
import { type Contender, MeasuredRun } from "../method/measured-run.ts";
import { inFreshPlace } from "../method/place.ts";
import type { Part } from "./part.ts";

const concurrency = 8;
const settleMs = 3000;

/** What workers cost that have nothing to do. */
export const idle: Part = {
  name: "idle",
  summary:
    "CPU of idle workers and of their Redis at concurrency 8, for 30 s (full: 3 minutes; of all parts: 8 s)",
  async run(bench) {
    const spanMs = bench.isQuick ? 8000 : bench.options.isFull ? 180_000 : 30_000;
    const contenders = contendersOf(bench);
    const repetitions = bench.options.repetitions ?? 1;
    bench.expect((contenders.length + 1) * repetitions);
    for (let repetition = 1; repetition <= repetitions; repetition++) {
      await recordRedis(bench, spanMs, repetition);
      for (const contender of contenders) await recordWorkers(bench, { contender, spanMs, repetition });
    }
  },
};

function contendersOf({ systems, isQuick }: Bench): Contender[] {
  // Spans are what takes time here: a short run has only what the goal is reckoned from.
  const measured = systems.filter(
    ({ role, name }) => name === "bare" || role === "ours" || (role === "peer" && !isQuick),
  );
  return measured.flatMap((system) =>
    system.shapes(concurrency).map((shape) => ({ system, shape, workload: "noop" as const, jobs: 1 })),
  );
}

/** For comparison: a Redis without a client. */
async function recordRedis(bench: Bench, spanMs: number, repetition: number): Promise<void> {
  await bench.redis.empty();
  const watch = new CpuWatch(bench.redis.pid);
  await Bun.sleep(settleMs);
  watch.begin();
  await Bun.sleep(spanMs);
  bench.record({
    ...{ part: "idle", workload: "idle", system: "redis", variant: "", shape: "alone", workers: 0 },
    ...{ concurrency: 0, jobs: 0, repetition, problem: undefined, counts: undefined },
    metrics: { idleRedisPercent: watch.percent() },
  });
}

async function recordWorkers(
  bench: Bench,
  { contender, spanMs, repetition }: { contender: Contender; spanMs: number; repetition: number },
): Promise<void> {
  const measured = await inFreshPlace(contender.system, bench.redis, async (place) => {
    const run = new MeasuredRun(contender, place);
    try {
      await run.worker.untilReady();
      await Bun.sleep(settleMs);
      const [own, redis] = [new CpuWatch(run.worker.pid), new CpuWatch(bench.redis.pid)];
      own.begin();
      redis.begin();
      await Bun.sleep(spanMs);
      const [idlePercent, idleRedisPercent] = [own.percent(), redis.percent()];
      const { rssMiB, pssMiB } = run.worker.tree.sample();
      const metrics = { idlePercent, rssFinishMiB: rssMiB, pssFinishMiB: pssMiB };
      const remark = await run.worker.stop();
      const onRedis = contender.system.engine === "redis" ? { idleRedisPercent } : {};
      return { problem: undefined, remark, metrics: { ...metrics, ...onRedis } };
    } catch (error) {
      return { problem: (error as Error).message, metrics: {} };
    } finally {
      await run.worker.kill();
    }
  });
  const subject = { ...subjectOf("idle", contender), workload: "idle", jobs: 0 };
  bench.record({ ...subject, repetition, counts: undefined, ...measured });
}
