import { type Bench, on } from "../method/bench.ts";
import { inClient } from "../method/client-process.ts";
import { inTurn, jobsAt, subjectOf } from "../method/compare.ts";
import { type Contender, type Measured, MeasuredRun } from "../method/measured-run.ts";
import { inFreshPlace, type Place } from "../method/place.ts";
import { problemOf } from "../method/record.ts";
import type { PublishMode, System } from "../systems/system.ts";
import type { Part } from "./part.ts";

const jobsOf: Record<PublishMode, { readonly quick: number; readonly usual: number }> = {
  single: { quick: 3000, usual: 10_000 },
  hundred: { quick: 10_000, usual: 50_000 },
  bulk: { quick: 50_000, usual: 200_000 },
};
/** Of the workers that run afterwards what was published. */
const concurrency = 10;

/** What an application waits for. */
export const publish: Part = {
  name: "publish",
  summary:
    "publications/s of one process: one after the other, 100 at a time, 1,000 a call; then all are run",
  run: (bench) => comparePublishing(bench, "publish", on(bench, "redis")),
};

/** Publications a second in each way that a system has, each from a fresh process, while nobody works. */
export async function comparePublishing(
  bench: Bench,
  part: string,
  systems: readonly System[],
): Promise<void> {
  const modes = Object.keys(jobsOf) as PublishMode[];
  const able = (mode: PublishMode) => systems.filter(({ publishModes }) => publishModes.includes(mode));
  const repetitions = bench.isQuick ? 1 : bench.repetitions;
  bench.expect(modes.flatMap(able).length * repetitions);
  for (const mode of modes) {
    for (let round = 0; round < repetitions; round++) {
      for (const system of inTurn(able(mode), round)) await recordOne(bench, { part, mode, system, round });
    }
  }
}

async function recordOne(
  bench: Bench,
  { part, mode, system, round }: { part: string; mode: PublishMode; system: System; round: number },
): Promise<void> {
  const amount = bench.isQuick ? jobsOf[mode].quick : jobsOf[mode].usual;
  const point = { workload: "noop", concurrency, jobs: amount, paced: "slow" } as const;
  const jobs = Math.max(2, jobsAt(point, system, bench.options.scale));
  const shape = system.shapes(concurrency).at(-1) ?? system.shapes(1).at(-1);
  if (shape === undefined) throw new Error(`${system.name} has no shape for a concurrency of 1`);
  const contender = { system, shape, workload: "noop", jobs } as const;
  const measured = await inFreshPlace(system, bench.redis, (place) =>
    published(bench, { contender, place, mode }),
  );
  const subject = subjectOf(part, contender);
  bench.record({
    ...{ ...subject, workload: `publish ${mode}`, shape: "one process", workers: 0, variant: "" },
    ...{ concurrency: 1, repetition: round + 1, ...measured },
  });
}

/** Publishes, then lets workers run it all: what was not stored does not count as published. */
async function published(
  { redis }: Bench,
  { contender, place, mode }: { contender: Contender; place: Place; mode: PublishMode },
): Promise<Measured> {
  const { system, jobs } = contender;
  let run: MeasuredRun | undefined;
  try {
    const redisBefore = await redis.cpuSeconds();
    const { seconds } = await inClient<{ seconds: number }>(system, place.url, {
      kind: "publish",
      jobs,
      mode,
    });
    const redisSeconds = (await redis.cpuSeconds()) - redisBefore;
    run = new MeasuredRun(contender, place);
    await run.allEnded();
    const remark = await run.worker.stop();
    const counts = run.counts();
    const onRedis = system.engine === "redis" ? { redisCpuSecondsPer1000: (redisSeconds / jobs) * 1000 } : {};
    // The first publication, which connects, is not timed.
    const metrics = { publishedPerSecond: (jobs - 1) / seconds, seconds, ...onRedis };
    return { problem: problemOf(counts), remark, counts, metrics };
  } catch (error) {
    const counts = run?.counts() ?? { expected: jobs, executed: 0, errors: 0, duplicates: 0 };
    return { problem: (error as Error).message, counts, metrics: {} };
  } finally {
    await run?.worker.kill();
  }
}
