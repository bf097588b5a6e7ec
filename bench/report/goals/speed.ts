import type { Lookup, Wanted } from "../lookup.ts";
import { type Goal, limitGoal, missing, ours, ratioGoal, type Side } from "./goal.ts";

/** Measured once beside the other peers, on a machine like the one that the goals are for. */
const jigglerAtMostOnce = { name: "jiggler-at-most-once", orientation: 23_400 };
/** Below this demand, waiting jobs must cost a queue nothing. */
const freeDemandPerSecond = 20_000;
const jobMs: Readonly<Record<string, number>> = { io: 5, http: 200 };

export function throughputGoals(lookup: Lookup): Goal[] {
  const at = (concurrency: number): Wanted => ({ part: "throughput", workload: "noop", concurrency });
  const rate = "jobsPerSecond";
  const versus = (what: string, times: number, wanted: Wanted) =>
    ratioGoal(`no-op jobs/s, ${what}, against the best peer that keeps jobs`, rate, {
      ours: lookup.of(ours, rate, wanted),
      other: lookup.bestKeeping(rate, at(wanted.concurrency ?? 0)),
      beside: lookup.losing(rate, at(wanted.concurrency ?? 0)),
      times,
    });
  const single = lookup.of(ours, rate, at(1));
  const many = { ...at(50), variant: "slots" };
  return [
    versus("1 worker x 1 slot", 4, at(1)),
    ratioGoal("no-op jobs/s, 1 x 1, against serial PINGs", rate, {
      ...{ ours: single, other: lookup.of("ping", rate, at(1)), times: 2 },
    }),
    versus("4 workers x 1 slot", 4, { ...at(4), variant: "workers" }),
    versus("1 worker x 50 slots", 5, many),
    jigglerGoal(lookup.of(ours, rate, many), lookup.of(jigglerAtMostOnce.name, rate, at(50))),
    limitGoal("Redis time per no-op job, 1 x 50", {
      ...{ ours: lookup.of(ours, "redisCpuSecondsPer1000", many), most: 6, unit: "us", factor: 1000 },
    }),
    limitGoal("Redis time per no-op job, 1 x 1", {
      ...{ ours: lookup.of(ours, "redisCpuSecondsPer1000", at(1)), most: 14, unit: "us", factor: 1000 },
    }),
    limitGoal("worker CPU per no-op job, 1 x 50", {
      ...{ ours: lookup.of(ours, "cpuSecondsPer1000", many), most: 10, unit: "us", factor: 1000 },
    }),
  ];
}

function jigglerGoal(reached: Side, jiggler: Side): Goal {
  const what = "no-op jobs/s, 1 x 50, against Jiggler at most once";
  if (jiggler !== undefined)
    return ratioGoal(what, "jobsPerSecond", { ours: reached, other: jiggler, times: 4 });
  const goal = `4 x ${jigglerAtMostOnce.orientation.toLocaleString("en")}, which it reached elsewhere`;
  if (reached === undefined) return missing(what, goal);
  const ratio = reached.value / jigglerAtMostOnce.orientation;
  return { what, goal, reached: `${ratio.toFixed(2)} x`, isReached: ratio >= 4, beside: "" };
}

export function cpuGoals(lookup: Lookup): Goal[] {
  const wanted: Wanted = { part: "cpu", workload: "cpu-long", concurrency: 2 };
  const two = { ...wanted, variant: "workers" };
  const rate = "jobsPerSecond";
  return [
    ratioGoal("cpu 7 ms, 2 workers, against plain Web Workers", rate, {
      ...{ ours: lookup.of(ours, rate, two), other: lookup.of("bare", rate, two), times: 0.97 },
    }),
    ratioGoal("cpu 7 ms, 2 workers, against the best peer", rate, {
      ...{ ours: lookup.of(ours, rate, two), other: lookup.bestOfAll(rate, wanted), times: "ahead" },
    }),
  ];
}

/** At each concurrency whose demand is low enough, in each shape. */
export function waitingGoals(lookup: Lookup, part: string): Goal[] {
  const rate = "jobsPerSecond";
  const shapes = lookup
    .all({ part, workload: part })
    .filter(
      ({ system, concurrency }) => system === ours && demandOf(part, concurrency) < freeDemandPerSecond,
    );
  return shapes.flatMap(({ shape, variant, concurrency }) => {
    const reached = lookup.of(ours, rate, { part, workload: part, concurrency, variant });
    const other = lookup.of("bare", rate, { part, workload: part, concurrency, variant });
    const peer = lookup.bestOfAll(rate, { part, workload: part, concurrency });
    return [
      ratioGoal(`${part}, ${shape}, against the same without a queue`, rate, {
        ours: reached,
        other,
        times: 0.97,
      }),
      ratioGoal(`${part}, ${shape}, against the best peer`, rate, { ours: reached, other: peer, times: 1 }),
    ];
  });
}

function demandOf(workload: string, concurrency: number): number {
  return (concurrency / (jobMs[workload] ?? 0)) * 1000;
}

export function publishGoals(lookup: Lookup): Goal[] {
  const rate = "publishedPerSecond";
  const goal = (mode: string, times: number) => {
    const wanted = { part: "publish", workload: `publish ${mode}` };
    return ratioGoal(`published/s, ${mode}, against the best peer that keeps jobs`, rate, {
      ...{ ours: lookup.of(ours, rate, wanted), other: lookup.bestKeeping(rate, wanted), times },
      beside: lookup.losing(rate, wanted),
    });
  };
  return [goal("bulk", 3), goal("hundred", 2), goal("single", 1.2)];
}
