import { inClient } from "../support/client-process.ts";
import type { Stage } from "../support/stage.ts";
import { quantile } from "../support/statistics.ts";
import type { System } from "../systems/system.ts";
import { solidJobs, systems } from "../systems/systems.ts";
import { inTurn, jobsOf, type Knobs, type Measure, type Row } from "./measure.ts";

const publications = 1000;
const shape = { workers: 2, slots: 1 };
const targetP50Ms = 1;

/** From just before a job is published to its first line, on a node that has nothing else to do. */
export const latency: Measure = {
  name: "latency",
  async run(stage, knobs, log) {
    const samples = new Map<string, number[]>();
    for (let round = 0; round < Math.min(knobs.repetitions, 3); round++) {
      for (const system of inTurn(systems, round)) {
        const latencies = await measured(stage, system, knobs);
        samples.set(system.name, [...(samples.get(system.name) ?? []), ...latencies]);
        log(`${system.name}: publish to start ${text(latencies)}`);
      }
    }
    return {
      rows: systems.map((system) => rowOf(system, samples.get(system.name) ?? [])),
      data: Object.fromEntries([...samples].map(([name, values]) => [name, quantiles(values)])),
    };
  },
};

async function measured(stage: Stage, system: System, knobs: Knobs): Promise<number[]> {
  const jobs = jobsOf(publications, knobs);
  const layout = { capacity: jobs, keepsTimes: true };
  return stage.run({ system, shape, layout }, async (run) => {
    const node = await run.startNode();
    const marks = { folder: run.options.folder, layout };
    const { publishedMs } = await inClient(system, stage.url, { kind: "publish-and-await", jobs, marks });
    await run.allRan(jobs);
    await node.stop();
    const startedMs = run.marks.times();
    return publishedMs.map((at, index) => startedMs[index]! - at);
  });
}

function rowOf(system: System, latencies: readonly number[]): Row {
  const isOurs = system === solidJobs;
  return {
    what: `publish to start, idle: ${system.name}, ${system.shapeText(shape)}`,
    reached: text(latencies),
    target: isOurs ? `p50 under ${targetP50Ms} ms` : "",
    isReached: isOurs ? quantile(latencies, 0.5) < targetP50Ms : undefined,
  };
}

function text(values: readonly number[]): string {
  const { p50, p99, max } = quantiles(values);
  return `p50 ${p50.toFixed(2)}, p99 ${p99.toFixed(2)}, max ${max.toFixed(1)} ms`;
}

function quantiles(values: readonly number[]): { p50: number; p99: number; max: number } {
  return { p50: quantile(values, 0.5), p99: quantile(values, 0.99), max: quantile(values, 1) };
}
