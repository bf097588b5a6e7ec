import type { Seen } from "./meter.ts";
import type { Rig } from "./rig.ts";

/** What is measured at a point, as the head of its column; the number of decimals it is printed with. */
export const columns = {
  jobsPerSecond: { title: "jobs/s", decimals: 0 },
  redisUs: { title: "Redis CPU us/job", decimals: 1 },
  scriptUs: { title: "in scripts us/job", decimals: 1 },
  workerUs: { title: "worker CPU us/job", decimals: 1 },
  redisUsPerKiB: { title: "Redis CPU us/KiB", decimals: 2 },
  workerUsPerKiB: { title: "worker CPU us/KiB", decimals: 2 },
  calls: { title: "calls", decimals: 0 },
  lastRedisUs: { title: "last channel only: Redis us/job", decimals: 1 },
  lastWorkerUs: { title: "last channel only: worker us/job", decimals: 1 },
  idleRequests: { title: "idle: requests/s per node", decimals: 2 },
  idleRedisPercent: { title: "idle: Redis % of a core", decimals: 2 },
  idleRedisPercentEach: { title: "idle: Redis % per node", decimals: 3 },
  idleNodePercent: { title: "idle: node % of a core, each", decimals: 2 },
  connections: { title: "connections", decimals: 0 },
  rssMiB: { title: "RSS MiB, each node", decimals: 1 },
} as const;

export type Column = keyof typeof columns;
export type Values = Partial<Record<Column, number>>;

export interface Point {
  readonly size: number;
  readonly values: Values;
  readonly seen: Seen;
}

/** A claim about growth: at the largest size a figure is at most so many times what it is at the smallest. */
export interface Claim {
  readonly of: Column;
  readonly atMost: number;
  /** The size to compare with, where the smallest is no measure. */
  readonly from?: number;
}

export interface Knobs {
  readonly isFull: boolean;
  /** Factor on all numbers of jobs. */
  readonly scale: number;
}

/** One way in which a site can grow. */
export interface Dimension {
  readonly name: string;
  /** What grows, as the head of its column. */
  readonly unit: string;
  readonly title: string;
  /** What holds, in a sentence; its claims are checked. */
  readonly statement: string;
  readonly claims: readonly Claim[];
  sizes(knobs: Knobs): readonly number[];
  measure(rig: Rig, size: number, knobs: Knobs): Promise<Point>;
}

export interface Measured {
  readonly dimension: Dimension;
  readonly points: readonly Point[];
}

/** A number of jobs of the full run, a share of it in the short one, times the scale. */
export function jobsOf(full: number, { isFull, scale }: Knobs, shortShare = 0.2): number {
  return Math.max(100, Math.round(full * (isFull ? 1 : shortShare) * scale));
}
