import { inClient } from "../support/client-process.ts";
import type { Stage } from "../support/stage.ts";
import { quantile } from "../support/statistics.ts";
import type { System } from "../systems/system.ts";
import { solidJobs, systems } from "../systems/systems.ts";
import { jobsOf, type Knobs, type Measure, type Row } from "./measure.ts";

const planned = 1000;
const aheadMs = 2000;
const spreadMs = 8000;
const shape = { workers: 2, slots: 10 };
const targetP99Ms = 250;

/** How long after its time a planned job begins, on a live node. */
export const lateness: Measure = {
  name: "lateness",
  async run(stage, knobs, log) {
    const rows: Row[] = [];
    const data: Record<string, unknown> = {};
    for (const system of systems) {
      const values = await measured(stage, system, knobs);
      log(`${system.name}: due jobs begin late by ${text(values)}`);
      rows.push(rowOf(system, values));
      data[system.name] = [0.5, 0.99, 1].map((share) => quantile(values, share));
    }
    return { rows, data };
  },
};

async function measured(stage: Stage, system: System, knobs: Knobs): Promise<number[]> {
  const jobs = jobsOf(planned, knobs);
  return stage.run({ system, shape, layout: { capacity: jobs, keepsTimes: true } }, async (run) => {
    const node = await run.startNode();
    const { dueMs } = await inClient(system, stage.url, { kind: "plan", jobs, aheadMs, spreadMs });
    await run.allRan(jobs);
    await node.stop();
    const startedMs = run.marks.times();
    return dueMs.map((due, index) => startedMs[index]! - due);
  });
}

function rowOf(system: System, values: readonly number[]): Row {
  const isOurs = system === solidJobs;
  return {
    what: `due jobs' lateness: ${system.name}, ${system.shapeText(shape)}`,
    reached: text(values),
    target: isOurs ? `p99 under ${targetP99Ms} ms` : "",
    isReached: isOurs ? quantile(values, 0.99) < targetP99Ms : undefined,
  };
}

function text(values: readonly number[]): string {
  const [p50, p99, max] = [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(1));
  return `p50 ${p50}, p99 ${p99}, max ${max} ms`;
}
