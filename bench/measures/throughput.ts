import { inClient } from "../support/client-process.ts";
import type { Stage } from "../support/stage.ts";
import { spread, summaryOf } from "../support/statistics.ts";
import type { NodeShape, System } from "../systems/system.ts";
import { bullmq, solidJobs, systems } from "../systems/systems.ts";
import { info, inTurn, jobsOf, type Knobs, type Measure, type Row } from "./measure.ts";

interface Comparison {
  readonly shape: NodeShape;
  readonly jobs: number;
  /** Least times as many jobs/s as BullMQ. */
  readonly targetRatio: number;
}

const comparisons: readonly Comparison[] = [
  { shape: { workers: 1, slots: 1 }, jobs: 30_000, targetRatio: 1.5 },
  { shape: { workers: 1, slots: 50 }, jobs: 100_000, targetRatio: 3 },
];

interface Result {
  readonly jobsPerSecond: number;
  /** Microseconds of the node's process, its start included. */
  readonly nodeCpuUsPerJob: number;
  readonly redisCpuUsPerJob: number;
  readonly peakRssMiB: number;
}

/** Jobs that do nothing, from a queue filled beforehand: jobs/s from the first to the last. */
export const throughput: Measure = {
  name: "throughput",
  async run(stage, knobs, log) {
    const rows: Row[] = [];
    const data: unknown[] = [];
    for (const comparison of comparisons) {
      const results = await compare(stage, comparison, knobs, log);
      rows.push(...rowsOf(comparison, results));
      data.push({
        shape: comparison.shape,
        jobs: jobsOf(comparison.jobs, knobs),
        runs: Object.fromEntries(results),
      });
    }
    return { rows, data };
  },
};

async function compare(stage: Stage, comparison: Comparison, knobs: Knobs, log: (line: string) => void) {
  const results = new Map<string, Result[]>(systems.map(({ name }) => [name, []]));
  const jobs = jobsOf(comparison.jobs, knobs);
  for (let round = 0; round < knobs.repetitions; round++) {
    for (const system of inTurn(systems, round)) {
      const result = await measured(stage, system, comparison.shape, jobs);
      results.get(system.name)?.push(result);
      log(
        `${system.name}, ${system.shapeText(comparison.shape)}: ${Math.round(result.jobsPerSecond)} jobs/s, ` +
          `us/job: node ${result.nodeCpuUsPerJob.toFixed(1)}, Redis ${result.redisCpuUsPerJob.toFixed(1)}`,
      );
    }
  }
  return results;
}

async function measured(stage: Stage, system: System, shape: NodeShape, jobs: number): Promise<Result> {
  return stage.run({ system, shape, layout: { capacity: jobs, keepsTimes: false } }, async (run) => {
    await inClient(system, stage.url, { kind: "fill", jobs });
    const redisBefore = await stage.redisCpuSeconds();
    const node = await run.startNode();
    const { firstMs, lastMs } = await run.allRan(jobs);
    const redisSeconds = (await stage.redisCpuSeconds()) - redisBefore;
    const { cpuSeconds, peakRssMiB } = await node.stop();
    return {
      jobsPerSecond: ((jobs - 1) / (lastMs - firstMs)) * 1000,
      nodeCpuUsPerJob: (cpuSeconds / jobs) * 1e6,
      redisCpuUsPerJob: (redisSeconds / jobs) * 1e6,
      peakRssMiB,
    };
  });
}

function rowsOf({ shape, targetRatio }: Comparison, results: ReadonlyMap<string, Result[]>): Row[] {
  const rates = (system: System) =>
    summaryOf((results.get(system.name) ?? []).map(({ jobsPerSecond }) => jobsPerSecond));
  const ratio = rates(solidJobs).median / rates(bullmq).median;
  return [
    ...systems.map((system) =>
      info(`no-op jobs/s: ${system.name}, ${system.shapeText(shape)}`, spread(rates(system))),
    ),
    {
      what: `  times as many as BullMQ at concurrency ${shape.workers * shape.slots}`,
      reached: ratio.toFixed(2),
      target: `at least ${targetRatio}`,
      isReached: ratio >= targetRatio,
    },
  ];
}
