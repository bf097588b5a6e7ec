import { describe, expect, test } from "bun:test";
import { problemOf } from "../../bench/method/record.ts";
import { summariesOf } from "../../bench/report/summaries.ts";
import { aRun } from "./fixtures/records.ts";

describe("a run's problem", () => {
  const counts = { expected: 100, executed: 100, errors: 0, duplicates: 0 };

  test("is none when each job ran once", () => {
    expect(problemOf(counts)).toBeUndefined();
  });

  test.each([{ executed: 99 }, { errors: 1 }, { duplicates: 1 }])("is told with its counts: %p", (wrong) => {
    const problem = problemOf({ ...counts, ...wrong });
    for (const [name, value] of Object.entries(wrong)) {
      expect(problem).toContain(name);
      expect(problem).toContain(String(value));
    }
  });
});

describe("summaries", () => {
  test("a failed run is counted and averaged in nowhere", () => {
    const [summary, ...others] = summariesOf([
      aRun({ metrics: { jobsPerSecond: 10 } }),
      aRun({
        ...{ repetition: 2, problem: "executed 99 of 100", metrics: { jobsPerSecond: 9000 } },
        counts: { expected: 100, executed: 99, errors: 1, duplicates: 0 },
      }),
      aRun({ repetition: 3, metrics: { jobsPerSecond: 30 } }),
    ]);
    expect(others).toEqual([]);
    expect(summary).toMatchObject({ succeeded: 2, failed: 1, problems: ["executed 99 of 100"] });
    expect(summary!.metrics.jobsPerSecond).toEqual({ median: 20, min: 10, max: 30 });
    expect(summary!.counts).toEqual({ expected: 300, executed: 299, errors: 1, duplicates: 0 });
  });

  test("a subject whose runs all failed has no numbers", () => {
    const [summary] = summariesOf([aRun({ problem: "the workers ended by themselves" })]);
    expect(summary).toMatchObject({ succeeded: 0, failed: 1, metrics: {} });
  });

  test("subjects differ by system, shape and number of jobs, and keep the order of their first runs", () => {
    const summaries = summariesOf([
      aRun({ system: "b" }),
      aRun({ system: "a" }),
      aRun({ system: "b", repetition: 2 }),
      aRun({ system: "a", jobs: 200 }),
      aRun({ system: "a", shape: "1 x 4", concurrency: 4 }),
    ]);
    expect(summaries.map(({ system, shape, jobs, succeeded }) => [system, shape, jobs, succeeded])).toEqual([
      ["b", "1 x 1", 100, 2],
      ["a", "1 x 1", 100, 1],
      ["a", "1 x 1", 200, 1],
      ["a", "1 x 4", 100, 1],
    ]);
  });

  test("scaling efficiency and memory of a further worker are those beside a concurrency of 1", () => {
    const [single, four] = summariesOf([
      aRun({ metrics: { jobsPerSecond: 100, rssFinishMiB: 40 } }),
      aRun({
        ...{ shape: "4 x 1", workers: 4, concurrency: 4 },
        metrics: { jobsPerSecond: 300, rssFinishMiB: 46 },
      }),
    ]);
    expect(single!.metrics.scalingEfficiency).toBeUndefined();
    expect(four!.metrics.scalingEfficiency?.median).toBe(0.75);
    expect(four!.metrics.marginalRssMiB?.median).toBe(2);
  });

  test("more slots in one worker take no memory of a further worker", () => {
    const [, slots] = summariesOf([
      aRun({ metrics: { jobsPerSecond: 100, rssFinishMiB: 40 } }),
      aRun({ shape: "1 x 4", concurrency: 4, metrics: { jobsPerSecond: 300, rssFinishMiB: 46 } }),
    ]);
    expect(slots!.metrics.scalingEfficiency?.median).toBe(0.75);
    expect(slots!.metrics.marginalRssMiB).toBeUndefined();
  });
});
