import { describe, expect, test } from "bun:test";
import type { RunRecord } from "../../bench/method/record.ts";
import type { Results, SystemFacts } from "../../bench/report/facts.ts";
import type { Goal } from "../../bench/report/goals/goal.ts";
import { goalsOf } from "../../bench/report/goals/goals.ts";
import { summariesOf } from "../../bench/report/summaries.ts";
import { aRun } from "./fixtures/records.ts";

const systems: SystemFacts[] = [
  { name: "solid-jobs", role: "ours", engine: "redis", keepsJobs: true },
  { name: "solid-jobs-embedded", role: "ours", engine: "sqlite", keepsJobs: true },
  { name: "safe", role: "peer", engine: "redis", keepsJobs: true },
  { name: "safer", role: "peer", engine: "redis", keepsJobs: true },
  { name: "quick", role: "peer", engine: "redis", keepsJobs: false },
  { name: "plainjob", role: "peer", engine: "sqlite", keepsJobs: true },
  { name: "bare", role: "yardstick", engine: "none", keepsJobs: false },
  { name: "ping", role: "yardstick", engine: "redis", keepsJobs: false },
];

function goals(...runs: RunRecord[]): Goal[] {
  const facts = {
    ...{ date: "2030-01-01T00:00:00.000Z", versions: {}, knobs: {}, systems, parts: [] },
    machine: { processor: "p", cores: 2, memoryGiB: 1, system: "s", fileSystem: "ext", loadBefore: 0 },
  };
  const results: Results = { facts, runs, summaries: summariesOf(runs), notes: [] };
  return goalsOf(results);
}

function goal(what: string, ...runs: RunRecord[]): Goal {
  const found = goals(...runs).filter((each) => each.what.startsWith(what));
  expect(found).toHaveLength(1);
  return found[0]!;
}

const rate = (system: string, jobsPerSecond: number, given: Partial<RunRecord> = {}) =>
  aRun({ system, metrics: { jobsPerSecond }, ...given });

describe("a ratio to the best peer", () => {
  const what = "no-op jobs/s, 1 worker x 1 slot";

  test("is to the fastest of those that keep jobs; the others stand beside it", () => {
    const runs = [rate("solid-jobs", 400), rate("safe", 90), rate("safer", 100), rate("quick", 1000)];
    expect(goal(what, ...runs)).toMatchObject({ isReached: true, beside: "quick 1,000" });
    expect(goal(what, ...runs).reached).toBe("4.00 x: 400 against safer 100");
  });

  test("is missed by a hair as well as by far", () => {
    expect(goal(what, rate("solid-jobs", 399), rate("safe", 100)).isReached).toBeFalse();
  });

  test("leaves failed runs out, and says that there were some", () => {
    const failed = { problem: "executed 99 of 100", repetition: 2, metrics: { jobsPerSecond: 9000 } };
    const runs = [
      rate("solid-jobs", 500),
      aRun({ ...failed }),
      rate("safe", 100),
      aRun({ system: "safe", ...failed }),
    ];
    expect(goal(what, ...runs)).toMatchObject({ isReached: true });
    expect(goal(what, ...runs).reached).toBe("5.00 x: 500 against safe 100 (1 runs FAILED)");
  });

  test("is neither reached nor missed where nobody or nothing was measured", () => {
    expect(goal(what, rate("solid-jobs", 500))).toMatchObject({
      isReached: undefined,
      reached: "not measured",
    });
    const onlyFailed = aRun({ problem: "it stood still", metrics: {} });
    expect(goal(what, onlyFailed, rate("safe", 100))).toMatchObject({ isReached: undefined });
  });

  test("compares like with like: the same concurrency and our shape of it", () => {
    const four = { concurrency: 4, shape: "4 x 1", variant: "workers" };
    const slots = { concurrency: 4, shape: "1 x 4", variant: "slots" };
    const runs = [
      ...[rate("solid-jobs", 100), rate("safe", 1)],
      ...[
        rate("solid-jobs", 300, four),
        rate("solid-jobs", 900, slots),
        rate("safe", 100, { concurrency: 4 }),
      ],
    ];
    expect(goal("no-op jobs/s, 4 workers x 1 slot", ...runs).reached).toBe("3.00 x: 300 against safe 100");
  });
});

test("CPU per job is told in microseconds", () => {
  const fifty = { concurrency: 50, shape: "1 x 50", variant: "slots" };
  const run = aRun({ ...fifty, metrics: { jobsPerSecond: 1, cpuSecondsPer1000: 0.0123 } });
  expect(goal("worker CPU per no-op job", run)).toMatchObject({ reached: "12.3 us", isReached: false });
});

test("waiting jobs are held against the same shape without a queue, while the demand is low enough", () => {
  const io = (system: string, jobsPerSecond: number, concurrency: number) =>
    rate(system, jobsPerSecond, {
      ...{ part: "io", workload: "io", concurrency, shape: `1 x ${concurrency}`, variant: "slots" },
    });
  const runs = [io("solid-jobs", 98, 8), io("bare", 100, 8), io("safe", 97, 8), io("solid-jobs", 1, 200)];
  expect(goals(...runs).map(({ what, isReached }) => [what, isReached])).toEqual([
    ["io, 1 x 8, against the same without a queue", true],
    ["io, 1 x 8, against the best peer", true],
  ]);
});

test("idling is what our workers and their Redis take above bare ones and a Redis alone", () => {
  const eight = { part: "idle", workload: "idle", concurrency: 8, variant: "workers", counts: undefined };
  const runs = [
    aRun({ ...eight, metrics: { idlePercent: 0.3, idleRedisPercent: 0.2 } }),
    aRun({ ...eight, system: "bare", metrics: { idlePercent: 0.2 } }),
    aRun({ ...eight, system: "redis", concurrency: 0, variant: "", metrics: { idleRedisPercent: 0.1 } }),
  ];
  expect(goal("idle, 8 workers", ...runs)).toMatchObject({
    ...{ reached: "0.20 %: 0.30 - 0.20 and 0.20 - 0.10", isReached: false },
  });
});

test("an embedded peer is taken at its best, at this concurrency or below", () => {
  const at = (system: string, jobsPerSecond: number, concurrency: number) =>
    rate(system, jobsPerSecond, { part: "embedded", concurrency, shape: String(concurrency) });
  const runs = [at("solid-jobs-embedded", 90, 4), at("plainjob", 100, 1), at("plainjob", 50, 4)];
  expect(goal("embedded, no-op jobs/s at 4, against plainjob", ...runs)).toMatchObject({
    ...{ reached: "0.90 x: 90 against plainjob 100", isReached: false },
  });
});

test("a part that did not run has no goals", () => {
  expect(
    goals(aRun({ part: "sizes", system: "safe" })).filter(({ what }) => what.includes("publish")),
  ).toEqual([]);
  expect(goals()).toEqual([]);
});
