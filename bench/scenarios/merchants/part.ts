import type { Bench } from "../../method/bench.ts";
import { inTurn, subjectOf } from "../../method/compare.ts";
import type { Contender, Measured } from "../../method/measured-run.ts";
import { inFreshPlace } from "../../method/place.ts";
import type { Part } from "../../parts/part.ts";
import { quantile } from "../../report/statistics.ts";
import type { Shape, System } from "../../systems/system.ts";
import { fromBacklog, fromStream, type OrdersGiven } from "./runs.ts";

/** Three quarters of what 4 slots can place while all merchants answer in 200 ms. */
const streamPerSecond = 15;
const goalRatio = 40;

/** A way to run the workers, and the orders a second that it is expected to place at most. */
interface Way {
  readonly system: string;
  readonly concurrency: number;
  readonly perSecond: number;
}

const fewSlots: Way = { system: "solid-jobs", concurrency: 4, perSecond: 20 };
const manySlots: Way = { system: "solid-jobs", concurrency: 200, perSecond: 1000 };
const ways: readonly Way[] = [
  ...[fewSlots, manySlots],
  { system: "celery-prefork", concurrency: 4, perSecond: 20 },
  { system: "celery-gevent", concurrency: 200, perSecond: 300 },
];

interface Phase {
  readonly workload: string;
  readonly degraded: number;
  /** Orders for so many seconds. */
  jobsOf(way: Way, seconds: number): number;
  /** Of the longest span: with a merchant that takes 10 s, less tells nothing. */
  readonly leastSeconds: number;
  run(given: OrdersGiven): Promise<Measured>;
}

const backlogHealthy: Phase = {
  ...{ workload: "backlog, all healthy", degraded: 0, leastSeconds: 5 },
  jobsOf: ({ perSecond }, seconds) => perSecond * seconds,
  run: fromBacklog,
};
const backlogDegraded: Phase = {
  ...{ workload: "backlog, 1 of 50 degraded", degraded: 1, leastSeconds: 15 },
  // A fiftieth of the orders takes 50 times as long: about half as many a second can be placed.
  jobsOf: ({ perSecond }, seconds) => (perSecond / 2) * seconds,
  run: fromBacklog,
};
const stream = (given: OrdersGiven) => fromStream(given, streamPerSecond);
const streamHealthy: Phase = {
  ...{ workload: `${streamPerSecond} orders/s, all healthy`, degraded: 0, leastSeconds: 5 },
  jobsOf: (_, seconds) => streamPerSecond * seconds,
  run: stream,
};
const streamDegraded: Phase = {
  ...{ workload: `${streamPerSecond} orders/s, 1 of 50 degraded`, degraded: 1, leastSeconds: 10 },
  jobsOf: (_, seconds) => streamPerSecond * seconds,
  run: stream,
};

/** Orders that are posted to 50 merchants' APIs, one of which becomes slow. */
export const merchants: Part = {
  name: "merchants",
  summary:
    "orders posted to 50 merchant APIs of 200 ms, one of which degrades to 10 s: 4 slots or 200, and Celery's processes or greenlets",
  async run(bench) {
    const phases = bench.isQuick
      ? [backlogHealthy, streamDegraded]
      : [backlogHealthy, backlogDegraded, streamHealthy, streamDegraded];
    const repetitions = bench.options.repetitions ?? (bench.options.isFull ? 3 : 1);
    const present = presentWays(bench);
    bench.expect(phases.length * present.length * repetitions);
    const rates = new Map<Way, number[]>(present.map(([way]) => [way, []]));
    for (const phase of phases) {
      for (let round = 0; round < repetitions; round++) {
        for (const [way, subject] of inTurn(present, round)) {
          const rate = await measured(bench, { phase, way, ...subject, repetition: round + 1 });
          if (phase === backlogHealthy && rate !== undefined) rates.get(way)?.push(rate);
        }
      }
    }
    tellRatio(bench, rates);
  },
};

function presentWays(bench: Bench): [Way, { system: System; shape: Shape }][] {
  return ways.flatMap((way) => {
    const system = bench.systems.find(({ name }) => name === way.system);
    const shapes = system?.shapes(way.concurrency) ?? [];
    // Of threads and slots: one slot each, unless there are more than anybody would run threads.
    const shape = shapes.find(({ variant }) => variant === "workers") ?? shapes[0];
    return system === undefined || shape === undefined ? [] : [[way, { system, shape }] as const];
  }) as [Way, { system: System; shape: Shape }][];
}

/** @returns the orders a second */
async function measured(
  bench: Bench,
  {
    phase,
    way,
    system,
    shape,
    repetition,
  }: {
    phase: Phase;
    way: Way;
    system: System;
    shape: Shape;
    repetition: number;
  },
): Promise<number | undefined> {
  const { isFull, scale } = bench.options;
  const seconds = Math.max(phase.leastSeconds, isFull ? 40 : bench.isQuick ? 5 : 15) * scale;
  const jobs = Math.max(50, Math.round(phase.jobsOf(way, seconds)));
  const contender: Contender = { system, shape, workload: "order", jobs };
  const result = await inFreshPlace(system, bench.redis, (place) =>
    phase.run({ contender, place, redis: bench.redis, degraded: phase.degraded }),
  );
  bench.record({ ...subjectOf("merchants", contender), workload: phase.workload, repetition, ...result });
  return result.metrics.jobsPerSecond;
}

function tellRatio(bench: Bench, rates: ReadonlyMap<Way, readonly number[]>): void {
  const [few, many] = [fewSlots, manySlots].map((way) => quantile(rates.get(way) ?? [], 0.5)) as [
    number,
    number,
  ];
  const ratio = many / few;
  if (Number.isNaN(ratio)) return bench.note("merchants: 4 slots and 200 slots were not both measured");
  const verdict = ratio >= goalRatio ? "reached" : "MISSED";
  bench.note(
    `merchants: 1 worker of 200 slots placed ${ratio.toFixed(1)} times the orders of 4 workers of one slot while all ` +
      `merchants were healthy (ideal 50, goal ${goalRatio}: ${verdict})`,
  );
}
