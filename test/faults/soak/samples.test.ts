import { expect, test } from "bun:test";
import { type Sample, summaryOf, treeRssMiB } from "./samples.ts";

const sample = (seconds: number, rssMiB: number, more: Partial<Sample> = {}): Sample => ({
  ...{ seconds, rssMiB, jobsPerSecond: 100, redisMiB: undefined, queued: 1000 },
  ...more,
});

test("a soak's summary leaves the warm-up out and tells how fast memory grows", () => {
  const warmUp = [sample(10, 20), sample(20, 90)];
  const after = Array.from({ length: 61 }, (_, i) => sample(300 + i * 60, 100 + i * 0.1));
  const summary = summaryOf([...warmUp, ...after], 299);
  expect(summary.samples).toBe(61);
  expect(summary.rssSlopeMiBPerHour).toBeCloseTo(6, 5);
  expect(summary.rssMiB).toEqual({ median: 103, most: 106 });
  expect(summary.redisMiB).toBeUndefined();
});

test("rates and the queue have a median and their extremes", () => {
  const samples = [40, 10, 30].map((rate, i) =>
    sample(i, 50, { jobsPerSecond: rate, queued: rate * 10, redisMiB: rate / 10 }),
  );
  const { jobsPerSecond, queued, redisMiB } = summaryOf(samples, -1);
  expect(jobsPerSecond).toEqual({ median: 30, least: 10 });
  expect(queued).toEqual({ median: 300, least: 100, most: 400 });
  expect(redisMiB).toEqual({ median: 3, most: 4 });
});

test("the memory of a process includes that of its children", async () => {
  const child = Bun.spawn(["sleep", "60"]);
  const alone = treeRssMiB(child.pid);
  expect(alone).toBeGreaterThan(0);
  expect(treeRssMiB(process.pid)).toBeGreaterThan(alone);
  child.kill();
  await child.exited;
});
