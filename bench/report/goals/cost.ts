import type { Lookup } from "../lookup.ts";
import { type Goal, limitGoal, missing, ours, type Side } from "./goal.ts";

export function latencyGoals(lookup: Lookup): Goal[] {
  const wanted = { part: "latency", workload: "publish to start" };
  return ["workers", "slots"].flatMap((variant) => {
    const [p50, p99] = (["queueP50Ms", "queueP99Ms"] as const).map((metric) =>
      lookup.of(ours, metric, { ...wanted, variant }),
    );
    const shape = p50?.summary.shape ?? variant;
    const peer = lookup.leastOfAll("queueP50Ms", wanted);
    return [
      limitGoal(`publish to start when idle, p50, ${shape}`, { ours: p50, most: 0.4, unit: "ms", digits: 2 }),
      limitGoal(`publish to start when idle, p99, ${shape}`, { ours: p99, most: 2, unit: "ms", digits: 2 }),
      aheadGoal(`publish to start when idle, p50, ${shape}, against the best peer`, p50, peer),
    ];
  });
}

/** Less than another, in milliseconds. */
function aheadGoal(what: string, reached: Side, other: Side): Goal {
  const goal = "ahead of it";
  if (reached === undefined || other === undefined) return missing(what, goal);
  return {
    ...{ what, goal, isReached: reached.value < other.value, beside: "" },
    reached: `${reached.value.toFixed(2)} ms against ${other.summary.system} ${other.value.toFixed(2)}`,
  };
}

export function memoryGoals(lookup: Lookup): Goal[] {
  const wanted = { part: "memory", workload: "noop", concurrency: 8 };
  return [
    limitGoal("RSS of the tree at 8 workers, after no-op jobs", {
      ...{ ours: lookup.of(ours, "rssFinishMiB", wanted), most: 70, unit: "MiB" },
    }),
    limitGoal("RSS of each further worker", {
      ...{ ours: lookup.of(ours, "marginalRssMiB", wanted), most: 3, unit: "MiB" },
    }),
  ];
}

export function idleGoals(lookup: Lookup): Goal[] {
  const what = "idle, 8 workers and their Redis, above 8 bare Web Workers and an idle Redis";
  const most = 0.15;
  const goal = `at most ${most} % of a core`;
  const eight = { part: "idle", workload: "idle", concurrency: 8, variant: "workers" };
  const [own, redis, bare, alone] = [
    lookup.of(ours, "idlePercent", eight),
    lookup.of(ours, "idleRedisPercent", eight),
    lookup.of("bare", "idlePercent", eight),
    lookup.of("redis", "idleRedisPercent", { part: "idle", workload: "idle" }),
  ];
  if (own === undefined || redis === undefined || bare === undefined || alone === undefined) {
    return [missing(what, goal)];
  }
  const percent = own.value - bare.value + redis.value - alone.value;
  const parts = [own, bare, redis, alone].map(({ value }) => value.toFixed(2));
  const reached = `${percent.toFixed(2)} %: ${parts[0]} - ${parts[1]} and ${parts[2]} - ${parts[3]}`;
  return [{ what, goal, reached, isReached: percent <= most, beside: "" }];
}

export function startGoals(lookup: Lookup): Goal[] {
  const wanted = { part: "start", workload: "noop" };
  return [
    limitGoal("exec to first job", {
      ...{ ours: lookup.of(ours, "firstJobMs", wanted), most: 120, unit: "ms", digits: 0 },
    }),
  ];
}
