import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { measuredRun } from "../../bench/method/measured-run.ts";
import { inFreshPlace } from "../../bench/method/place.ts";
import { RedisPlace } from "../../bench/method/redis-place.ts";
import type { System } from "../../bench/systems/system.ts";
import { testUnless } from "../support/skip.ts";

const worker = join(import.meta.dir, "fixtures", "worker.ts");
const jobs = 1000;
let redis: RedisPlace;
beforeAll(async () => {
  redis = await RedisPlace.open();
});
afterAll(() => redis.close());

/** A system whose workers do this with their jobs. */
function aSystem(what: string, client: readonly string[] = ["echo", "{}"]): System {
  return {
    ...{ name: what, role: "peer", engine: "none", keepsJobs: true, pace: 1, publishModes: [], plans: false },
    absence: () => undefined,
    versions: () => ({}),
    shapes: () => [{ workers: 1, slots: 1, variant: "", text: "1 x 1" }],
    supports: () => true,
    worker: () => ({ argv: [process.execPath, worker, what] }),
    client: () => client,
  };
}

function measured(system: System) {
  const contender = { system, shape: system.shapes(1)[0]!, workload: "noop", jobs } as const;
  return inFreshPlace(system, redis, (place) => measuredRun({ contender, place, redis, around: {} }));
}

const needsProc = existsSync("/proc/self/smaps_rollup") ? undefined : "needs Linux's /proc";
testUnless(needsProc)("a run in which each job ran once is good, and has its numbers", async () => {
  const { problem, counts, metrics } = await measured(aSystem("all"));
  expect(problem).toBeUndefined();
  expect(counts).toEqual({ expected: jobs, executed: jobs, errors: 0, duplicates: 0 });
  for (const name of ["jobsPerSecond", "rssPeakMiB", "pssPeakMiB", "firstJobMs"] as const) {
    expect(metrics[name]).toBeGreaterThan(0);
  }
  expect(metrics.queueP99Ms).toBeGreaterThanOrEqual(metrics.queueP50Ms!);
});

test.each([
  ["lose", { executed: jobs - 1, errors: 0, duplicates: 1 }],
  ["double", { executed: jobs, errors: 0, duplicates: 1 }],
  ["throw", { executed: jobs - 1, errors: 1, duplicates: 0 }],
])("a run whose workers %s a job is a failed run, with its counts", async (what, wrong) => {
  const { problem, counts } = await measured(aSystem(what));
  expect(problem).toContain(`executed ${wrong.executed} of ${jobs}`);
  expect(counts).toEqual({ expected: jobs, ...wrong });
});

test("a worker that does not end as it should is remarked on, and its run is as good as another", async () => {
  const { problem, remark, counts } = await measured(aSystem("stumble"));
  expect(problem).toBeUndefined();
  expect(remark).toContain("ended with status 3");
  expect(counts).toEqual({ expected: jobs, executed: jobs, errors: 0, duplicates: 0 });
});

test("a run whose workers end by themselves is a failed run, without numbers", async () => {
  const { problem, counts, metrics } = await measured(aSystem("die"));
  expect(problem).toContain("ended by themselves");
  expect(counts).toEqual({ expected: jobs, executed: jobs / 2, errors: 0, duplicates: 0 });
  expect(metrics).toEqual({});
});

test("a run whose client cannot publish is a failed run, with what the client said", async () => {
  const { problem, metrics } = await measured(aSystem("all", ["sh", "-c", "echo no queue >&2; exit 3"]));
  expect(problem).toContain("status 3");
  expect(problem).toContain("no queue");
  expect(metrics).toEqual({});
});
