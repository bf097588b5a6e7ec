import type { Bench } from "../method/bench.ts";
import type { RunRecord } from "../method/record.ts";
import type { Part } from "../parts/part.ts";
import { table } from "../report/table.ts";
import { type Bound, bounds } from "./bounds.ts";
import type { Dimension, Knobs, Measured, Point } from "./dimension.ts";
import { dimensions } from "./dimensions.ts";
import { repeated } from "./repeated.ts";
import { saveGrowth } from "./report.ts";
import { Rig } from "./rig.ts";
import { rowsOf } from "./tables.ts";
import { verdictOf, verdictOfBounds } from "./verdict.ts";

const fullRepetitions = 3;

/** How the cost of solid-jobs on Redis grows, dimension by dimension. */
export const growth: Part = {
  name: "growth",
  summary:
    "how the cost of a job grows with jobs, workers, slots, nodes, channels and bytes; the longest calls of Redis",
  async run(bench) {
    if (bench.isQuick) {
      return bench.note(
        "growth: not in a short run of all parts; four minutes by itself: npm run bench -- growth",
      );
    }
    const knobs = { isFull: bench.options.isFull, scale: bench.options.scale };
    bench.expect(dimensions.reduce((sum, each) => sum + each.sizes(knobs).length, 0));
    const date = new Date().toISOString();
    const rig = await Rig.open();
    try {
      const yardstickMs = await yardstick(rig);
      const measured: Measured[] = [];
      for (const dimension of dimensions) measured.push(await measuredIn(bench, rig, dimension, knobs));
      const measuredBounds = await bounds();
      tell(bench, measured, measuredBounds);
      if (!bench.options.isSaved) return;
      const saved = await saveGrowth({
        ...{ date, isFull: knobs.isFull, redis: await rig.version() },
        ...{ isRedisPreferred: rig.isRedisPreferred, yardstickMs, measured, bounds: measuredBounds },
      });
      bench.note(`growth: tables and charts are in ${saved}`);
    } finally {
      await rig.close();
    }
  },
};

async function measuredIn(bench: Bench, rig: Rig, dimension: Dimension, knobs: Knobs): Promise<Measured> {
  const repetitions = bench.options.repetitions ?? (knobs.isFull ? fullRepetitions : 1);
  const points: Point[] = [];
  for (const size of dimension.sizes(knobs)) {
    try {
      const point = await repeated(rig, { dimension, size, repetitions }, knobs);
      points.push(point);
      bench.record(runOf(dimension, size, point));
    } catch (error) {
      bench.record(runOf(dimension, size, error as Error));
    }
  }
  return { dimension, points };
}

/** As one of the benchmark's runs, for its tables; the part's own have more. */
function runOf({ name, unit }: Dimension, size: number, result: Point | Error): RunRecord {
  const subject = {
    ...{ part: "growth", workload: name, system: "solid-jobs", variant: "" },
    ...{ shape: `${size.toLocaleString("en")} ${unit}`, workers: 0, concurrency: 0, jobs: 0 },
    ...{ repetition: 1, counts: undefined },
  };
  if (result instanceof Error) return { ...subject, problem: result.message, metrics: {} };
  const { jobsPerSecond, workerUs, redisUs, idleNodePercent, idleRedisPercent, rssMiB } = result.values;
  return {
    ...subject,
    problem: undefined,
    metrics: {
      ...(jobsPerSecond === undefined ? {} : { jobsPerSecond }),
      ...(workerUs === undefined ? {} : { cpuSecondsPer1000: workerUs / 1000 }),
      ...(redisUs === undefined ? {} : { redisCpuSecondsPer1000: redisUs / 1000 }),
      ...(idleNodePercent === undefined ? {} : { idlePercent: idleNodePercent }),
      ...(idleRedisPercent === undefined ? {} : { idleRedisPercent }),
      ...(rssMiB === undefined ? {} : { rssFinishMiB: rssMiB }),
    },
  };
}

function tell(bench: Bench, measured: readonly Measured[], measuredBounds: readonly Bound[]): void {
  for (const each of measured) {
    bench.note(`\n${each.dimension.title}\n${table(rowsOf(each))}`);
    for (const line of verdictOf(each)) bench.note(line);
  }
  for (const line of verdictOfBounds(measuredBounds)) bench.note(line);
}

/** Milliseconds of a fixed loop in Redis: figures of machines, and of one machine at two times, compare by it. */
async function yardstick({ client }: Rig): Promise<number> {
  const startMs = performance.now();
  await client.send("EVAL", [
    "local n = 0 for i = 1, 10000000 do n = (n * 31 + i) % 65521 end return n",
    "0",
  ]);
  return performance.now() - startMs;
}
