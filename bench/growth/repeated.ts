import { quantile } from "../report/statistics.ts";
import type { Column, Dimension, Knobs, Point, Values } from "./dimension.ts";
import type { Rig } from "./rig.ts";

/** The medians of several measures of one point; the calls of all of them. */
export async function repeated(
  rig: Rig,
  { dimension, size, repetitions }: { dimension: Dimension; size: number; repetitions: number },
  knobs: Knobs,
): Promise<Point> {
  const points: Point[] = [];
  for (let i = 0; i < repetitions; i++) points.push(await dimension.measure(rig, size, knobs));
  const names = Object.keys(points[0]?.values ?? {}) as Column[];
  const values: Values = {};
  for (const name of names) {
    values[name] = quantile(
      points.map((point) => point.values[name] ?? Number.NaN),
      0.5,
    );
  }
  return {
    size,
    values,
    seen: {
      longCalls: points.flatMap(({ seen }) => seen.longCalls).sort((a, b) => b.ms - a.ms),
      scriptCalls: points.reduce((sum, { seen }) => sum + seen.scriptCalls, 0),
      redisWaitedMs: points.reduce((sum, { seen }) => sum + seen.redisWaitedMs, 0),
    },
  };
}
