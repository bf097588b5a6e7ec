import { inClient } from "../support/client-process.ts";
import type { Stage } from "../support/stage.ts";
import type { System } from "../systems/system.ts";
import { bullmq, solidJobs } from "../systems/systems.ts";
import { info, jobsOf, type Knobs, type Measure, type Row } from "./measure.ts";

const workerCounts = [1, 2, 4, 8, 16] as const;
const loadJobs = 100_000;
const settleMs = 3000;
const target = { workers: 8, rssMiB: 90, perFurtherWorkerMiB: 4 };

interface Memory {
  readonly system: string;
  readonly workers: number;
  readonly idleMiB: number;
  readonly loadedMiB: number;
  readonly peakMiB: number;
}

/** Resident memory of a node's process: when it has started, and after it has run many jobs. */
export const memory: Measure = {
  name: "memory",
  async run(stage, knobs, log) {
    const results: Memory[] = [];
    const subjects = [...workerCounts.map((workers) => ({ system: solidJobs, workers }))];
    for (const { system, workers } of [...subjects, { system: bullmq, workers: target.workers }]) {
      const result = await measured(stage, system, workers, knobs);
      results.push(result);
      log(`${system.name}, ${system.shapeText({ workers, slots: 1 })}: ${text(result)}`);
    }
    return { rows: rowsOf(results), data: results };
  },
};

async function measured(stage: Stage, system: System, workers: number, knobs: Knobs): Promise<Memory> {
  const jobs = jobsOf(loadJobs, knobs);
  const layout = { capacity: jobs, keepsTimes: false };
  return stage.run({ system, shape: { workers, slots: 1 }, layout }, async (run) => {
    const node = await run.startNode();
    await Bun.sleep(settleMs);
    const idleMiB = node.rssMiB;
    await inClient(system, stage.url, { kind: "fill", jobs });
    await run.allRan(jobs);
    await Bun.sleep(settleMs);
    const loadedMiB = node.rssMiB;
    const { peakRssMiB: peakMiB } = await node.stop();
    return { system: system.name, workers, idleMiB, loadedMiB, peakMiB };
  });
}

function rowsOf(results: readonly Memory[]): Row[] {
  const ours = results.filter(({ system }) => system === solidJobs.name);
  const theirs = results.filter(({ system }) => system !== solidJobs.name);
  const atTarget = ours.find(({ workers }) => workers === target.workers);
  const atMost = ours.at(-1);
  if (atTarget === undefined || atMost === undefined) return [];
  const perWorkerMiB =
    (atMost.loadedMiB - atTarget.loadedMiB) / Math.max(1, atMost.workers - atTarget.workers);
  return [
    ...ours.map((result) => info(`RSS: solid-jobs, ${result.workers} x 1`, text(result))),
    ...theirs.map((result) => info(`RSS: ${result.system}, concurrency ${result.workers}`, text(result))),
    {
      what: `  at ${target.workers} workers after the load`,
      reached: `${atTarget.loadedMiB.toFixed(1)} MiB`,
      target: `at most ${target.rssMiB} MiB`,
      isReached: atTarget.loadedMiB <= target.rssMiB,
    },
    {
      what: "  for each further worker",
      reached: `${perWorkerMiB.toFixed(1)} MiB`,
      target: `at most ${target.perFurtherWorkerMiB} MiB`,
      isReached: perWorkerMiB <= target.perFurtherWorkerMiB,
    },
  ];
}

function text({ idleMiB, loadedMiB, peakMiB }: Memory): string {
  return `idle ${idleMiB.toFixed(1)}, loaded ${loadedMiB.toFixed(1)}, peak ${peakMiB.toFixed(1)} MiB`;
}
