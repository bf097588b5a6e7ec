import { inClient } from "../support/client-process.ts";
import type { FileStage } from "../support/file-stage.ts";
import { type Summary, spread, summaryOf } from "../support/statistics.ts";
import { bunqueue, plainjob, raw, solidJobs } from "../systems/embedded.ts";
import type { NodeShape, System } from "../systems/system.ts";
import { info, inTurn, jobsOf, type Knobs, type Measure, type Row } from "./measure.ts";

/** A system in one of the shapes it is tried in, with as many jobs as keep it busy for seconds. */
interface Contender {
  readonly system: System;
  readonly shape: NodeShape;
  readonly jobs: number;
}

interface Comparison {
  readonly name: string;
  readonly targetPerSecond: number;
  /** Ours first. */
  readonly contenders: readonly Contender[];
}

const single = { workers: 1, slots: 1 };
const comparisons: readonly Comparison[] = [
  {
    name: "1 worker x 1 slot",
    targetPerSecond: 14_000,
    contenders: [
      { system: solidJobs, shape: single, jobs: 30_000 },
      { system: raw, shape: single, jobs: 30_000 },
      { system: plainjob, shape: single, jobs: 30_000 },
      { system: bunqueue, shape: single, jobs: 10_000 },
    ],
  },
  {
    name: "4 workers x 50 slots",
    targetPerSecond: 50_000,
    contenders: [
      { system: solidJobs, shape: { workers: 4, slots: 50 }, jobs: 200_000 },
      { system: raw, shape: { workers: 1, slots: 50 }, jobs: 200_000 },
      { system: plainjob, shape: single, jobs: 30_000 },
      { system: plainjob, shape: { workers: 4, slots: 1 }, jobs: 30_000 },
      { system: bunqueue, shape: { workers: 1, slots: 50 }, jobs: 10_000 },
      { system: bunqueue, shape: { workers: 4, slots: 50 }, jobs: 10_000 },
    ],
  },
];

/** Jobs that do nothing, from a file filled beforehand: jobs/s from the first to the last. */
export const embeddedThroughput: Measure<FileStage> = {
  name: "throughput",
  async run(stage, knobs, log) {
    const rows: Row[] = [];
    const data: unknown[] = [];
    for (const comparison of comparisons) {
      log(comparison.name);
      const rates = await compare(stage, comparison, knobs, log);
      rows.push(...rowsOf(comparison, rates));
      const runs = [...rates].map(([{ system, shape, jobs }, jobsPerSecond]) => ({
        ...{ system: system.name, shape, jobs: jobsOf(jobs, knobs), jobsPerSecond },
      }));
      data.push({ comparison: comparison.name, runs });
    }
    return { rows, data };
  },
};

type Rates = ReadonlyMap<Contender, number[]>;

async function compare(
  stage: FileStage,
  { contenders }: Comparison,
  knobs: Knobs,
  log: (line: string) => void,
) {
  const rates = new Map<Contender, number[]>(contenders.map((contender) => [contender, []]));
  for (let round = 0; round < knobs.repetitions; round++) {
    for (const contender of inTurn(contenders, round)) {
      const rate = await measured(stage, contender, knobs);
      rates.get(contender)?.push(rate);
      log(`${textOf(contender)}: ${Math.round(rate)} jobs/s`);
    }
  }
  return rates;
}

async function measured(stage: FileStage, contender: Contender, knobs: Knobs): Promise<number> {
  const { system, shape } = contender;
  const jobs = jobsOf(contender.jobs, knobs);
  return stage.run({ system, shape, layout: { capacity: jobs, keepsTimes: false } }, async (run) => {
    await inClient(system, run.options.url, { kind: "fill", jobs });
    const node = await run.startNode();
    const { firstMs, lastMs } = await run.allRan(jobs);
    await node.stop();
    return ((jobs - 1) / (lastMs - firstMs)) * 1000;
  });
}

function rowsOf({ name, targetPerSecond, contenders }: Comparison, rates: Rates): Row[] {
  const summary = (contender: Contender): Summary => summaryOf(rates.get(contender) ?? []);
  const of = (system: System) => contenders.filter((contender) => contender.system === system);
  const best = (system: System) =>
    of(system).reduce((one, other) => (summary(other).median > summary(one).median ? other : one));
  const ours = summary(contenders[0]!).median;
  const versus = (peer: System): Row => {
    const ratio = ours / summary(best(peer)).median;
    return {
      what: `  times as many as ${peer.name}, at its best here: ${peer.shapeText(best(peer).shape)}`,
      reached: ratio.toFixed(2),
      target: "above 1",
      isReached: ratio > 1,
    };
  };
  return [
    ...contenders.map((contender, place) => ({
      what: `no-op jobs/s, ${name}: ${textOf(contender)}`,
      reached: spread(summary(contender)),
      target: place === 0 ? `at least ${targetPerSecond}` : "",
      isReached: place === 0 ? ours >= targetPerSecond : undefined,
    })),
    versus(bunqueue),
    versus(plainjob),
    info("  share of the raw loop's", (ours / summary(best(raw)).median).toFixed(2)),
  ];
}

function textOf({ system, shape }: Contender): string {
  return `${system.name}, ${system.shapeText(shape)}`;
}
