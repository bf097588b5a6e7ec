import { nowMs } from "../../marks/clock.ts";
import { FollowingClient, inClient } from "../../method/client-process.ts";
import { type Contender, type Measured, MeasuredRun } from "../../method/measured-run.ts";
import type { Place } from "../../method/place.ts";
import { problemOf } from "../../method/record.ts";
import type { RedisPlace } from "../../method/redis-place.ts";
import { quantile } from "../../report/statistics.ts";
import { isHealthy, withMerchants } from "./merchants.ts";

export interface OrdersGiven {
  readonly contender: Contender;
  readonly place: Place;
  readonly redis: RedisPlace;
  /** Merchants that take 10 s. */
  readonly degraded: number;
}

/** Orders that wait when the workers start: how many a second are placed. */
export function fromBacklog(given: OrdersGiven): Promise<Measured> {
  return withRun(given, async (run) => {
    const { system, jobs } = given.contender;
    await inClient(system, given.place.url, {
      kind: "fill",
      jobs,
      concurrency: run.contender.shape.slots * run.contender.shape.workers,
    });
    await run.begun();
    const used = await usedDuring(run, given.redis, () => run.allEnded());
    const samples = run.marks.samples();
    const healthy = samples.filter(({ index }) => isHealthy(index, given.degraded));
    const firstMs = Math.min(...samples.map(({ startMs }) => startMs));
    const lastMs = Math.max(...healthy.map(({ endMs }) => endMs));
    const seconds = (lastMs - firstMs) / 1000;
    return { ...used, seconds, jobsPerSecond: healthy.length / seconds };
  });
}

/** Of a constant stream: they connect, load and compile, and are not counted. */
const warmUp = 15;

/** Orders that come one after the other at a constant rate: how long after its time each is placed. */
export function fromStream(given: OrdersGiven, perSecond: number): Promise<Measured> {
  return withRun(given, async (run) => {
    await run.worker.untilReady();
    let startMs = 0;
    const used = await usedDuring(run, given.redis, async () => {
      startMs = await publishAt(perSecond, given);
      await run.allEnded();
    });
    const delays = run.marks
      .samples()
      .filter(({ index }) => index >= warmUp && isHealthy(index, given.degraded))
      .map(({ index, endMs }) => endMs - (startMs + (index * 1000) / perSecond));
    return { ...used, delayP50Ms: quantile(delays, 0.5), delayP99Ms: quantile(delays, 0.99) };
  });
}

/** @returns when the first was due; the others are due in equal steps, whatever became of those before */
async function publishAt(perSecond: number, { contender, place }: OrdersGiven): Promise<number> {
  const client = await FollowingClient.start(contender.system, place.url);
  try {
    const startMs = nowMs() + 100;
    for (let index = 0; index < contender.jobs; index++) {
      await Bun.sleep(Math.max(0, startMs + (index * 1000) / perSecond - nowMs()));
      client.send(index);
    }
    for (let index = 0; index < contender.jobs; index++) await client.published();
    return startMs;
  } finally {
    await client.close();
  }
}

async function withRun(
  { contender, place, degraded }: OrdersGiven,
  body: (run: MeasuredRun) => Promise<Measured["metrics"]>,
): Promise<Measured> {
  return withMerchants(degraded, async (merchantUrls) => {
    const run = new MeasuredRun(contender, place, { merchantUrls });
    try {
      const metrics = await body(run);
      const remark = await run.worker.stop();
      const counts = run.counts();
      return { problem: problemOf(counts), remark, counts, metrics };
    } catch (error) {
      return { problem: (error as Error).message, counts: run.counts(), metrics: {} };
    } finally {
      await run.worker.kill();
    }
  });
}

async function usedDuring(
  run: MeasuredRun,
  redis: RedisPlace,
  body: () => Promise<unknown>,
): Promise<Measured["metrics"]> {
  const { jobs } = run.contender;
  const redisBefore = await redis.cpuSeconds();
  const start = run.usage.start();
  await body();
  const end = run.usage.stop();
  return {
    cpuSecondsPer1000: ((end.cpuSeconds - start.cpuSeconds) / jobs) * 1000,
    redisCpuSecondsPer1000: (((await redis.cpuSeconds()) - redisBefore) / jobs) * 1000,
    rssPeakMiB: run.usage.peakRssMiB,
    pssPeakMiB: run.usage.peakPssMiB,
  };
}
