import type { RedisClient } from "bun";
import { nowMs } from "../marks/clock.ts";
import { type Batch, staged } from "./backlog.ts";
import type { Point, Values } from "./dimension.ts";
import { type RedisWork, seenIn } from "./meter.ts";
import type { NodeOptions } from "./node.ts";
import type { GrowthSite, Rig } from "./rig.ts";

export interface Working {
  readonly size: number;
  readonly nodes?: number;
  readonly node: NodeOptions;
  /** Jobs that run before anything is measured, so that the code is compiled. */
  readonly warmUp: number;
  readonly jobs: number;
  /** So many times: where one round is too short to tell anything. */
  readonly rounds?: number;
  readonly batch?: Omit<Batch, "from" | "count">;
  /** Puts what else is to be in Redis. */
  before?(client: RedisClient): Promise<void>;
}

/** Lets fresh nodes run jobs from queues filled beforehand, and tells what each job took. */
export function working(rig: Rig, given: Working): Promise<Point> {
  const { size, nodes = 1, node, warmUp, jobs, rounds = 1, batch = {} } = given;
  return rig.site(warmUp + jobs * rounds, async (site) => {
    await given.before?.(rig.client);
    await site.start(nodes, node);
    await warmedUp(site, warmUp, batch);
    const measured: Round[] = [];
    for (let i = 0; i < rounds; i++)
      measured.push(await round(site, { from: warmUp + i * jobs, count: jobs, ...batch }));
    site.assertEachRanOnce(warmUp + jobs * rounds);
    return pointOf({ size, jobs: jobs * rounds, rounds: measured });
  });
}

export interface Round {
  readonly seconds: number;
  readonly redis: RedisWork;
  readonly nodesCpuUs: number;
  /** Of a node, on average, when the last job has ended. */
  readonly rssMiB: number;
}

/** Runs the first jobs of a site, so that its code is compiled and its connections stand. */
export async function warmedUp(site: GrowthSite, jobs: number, batch: Working["batch"] = {}): Promise<void> {
  const appear = await staged(site.rig.client, { from: 0, count: jobs, ...batch });
  await appear();
  await site.ran(jobs);
}

export async function round(site: GrowthSite, batch: Batch): Promise<Round> {
  const appear = await staged(site.rig.client, batch);
  return measuredRound(site, batch.from + batch.count, appear);
}

/** Measures from the moment at which jobs appear until, in all, so many have run. */
export async function measuredRound(
  site: GrowthSite,
  total: number,
  appear: () => Promise<void>,
): Promise<Round> {
  const before = site.cpuUs();
  let seconds = 0;
  const redis = await site.rig.meter.during(async () => {
    const startMs = nowMs();
    await appear();
    seconds = ((await site.ran(total)) - startMs) / 1000;
  });
  return { seconds, redis, nodesCpuUs: site.cpuUs() - before, rssMiB: site.rssMiB() };
}

export interface PointGiven {
  readonly size: number;
  /** In all of the rounds together. */
  readonly jobs: number;
  readonly rounds: readonly Round[];
  /** What else was measured. */
  readonly values?: Values;
  /** Further spans in which calls of Redis were looked at. */
  readonly alsoSeen?: readonly RedisWork[];
}

/** What rounds come to for each of their jobs. */
export function pointOf({ size, jobs, rounds, values = {}, alsoSeen = [] }: PointGiven): Point {
  const sum = (of: (round: Round) => number) => rounds.reduce((total, each) => total + of(each), 0);
  return {
    size,
    values: {
      jobsPerSecond: jobs / sum(({ seconds }) => seconds),
      redisUs: sum(({ redis }) => redis.cpuUs) / jobs,
      scriptUs: sum(({ redis }) => redis.scriptUs) / jobs,
      workerUs: sum(({ nodesCpuUs }) => nodesCpuUs) / jobs,
      rssMiB: rounds.at(-1)?.rssMiB ?? Number.NaN,
      ...values,
    },
    seen: seenIn([...rounds.map(({ redis }) => redis), ...alsoSeen]),
  };
}
