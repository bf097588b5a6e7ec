import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { thisMachine } from "../method/machine.ts";
import type { Bound } from "./bounds.ts";
import type { Column, Measured } from "./dimension.ts";
import { type Line, lineChart, type Panel } from "./line-chart.ts";
import { chapterOf } from "./tables.ts";

const resultsFolder = join(import.meta.dir, "..", "results");

export interface GrowthResults {
  /** ISO 8601, of the beginning. */
  readonly date: string;
  readonly isFull: boolean;
  readonly redis: string;
  /** Whether Redis ran before the nodes did. */
  readonly isRedisPreferred: boolean;
  /** How long the script engine took for a fixed loop: how fast this machine's core was. */
  readonly yardstickMs: number;
  readonly measured: readonly Measured[];
  readonly bounds: readonly Bound[];
}

/** Writes JSON, Markdown and charts into a folder of their own. @returns its path from the repository's root */
export async function saveGrowth(results: GrowthResults): Promise<string> {
  const name = `${results.date.slice(0, 19).replaceAll(":", "-")}-growth-${results.isFull ? "full" : "short"}`;
  const folder = join(resultsFolder, name);
  mkdirSync(folder, { recursive: true });
  await Bun.write(join(folder, "growth.json"), `${JSON.stringify(dataOf(results), null, 1)}\n`);
  await Bun.write(join(folder, "growth.md"), markdownOf(results));
  await Bun.write(join(folder, "cost.svg"), chart("What a job costs, microseconds of CPU", results, costs));
  await Bun.write(join(folder, "rate.svg"), chart("Jobs per second", results, ["jobsPerSecond"]));
  return `bench/results/${name}`;
}

const costs: readonly Column[] = ["redisUs", "workerUs"];
const labels: Partial<Record<Column, string>> = {
  redisUs: "Redis",
  workerUs: "worker",
  jobsPerSecond: "jobs/s",
};

function dataOf({ measured, ...rest }: GrowthResults): object {
  const dimensions = measured.map(({ dimension: { name, unit, title, statement, claims }, points }) => ({
    ...{ name, unit, title, statement, claims },
    points: points.map(({ size, values, seen }) => ({
      ...{ size, values, scriptCalls: seen.scriptCalls, redisWaitedMs: seen.redisWaitedMs },
      longestCalls: seen.longCalls.slice(0, 20),
    })),
  }));
  return { ...rest, machine: thisMachine(), dimensions };
}

function markdownOf(results: GrowthResults): string {
  const { processor, cores, memoryGiB, system, loadBefore } = thisMachine();
  const machine = `${processor}, ${cores} cores, ${memoryGiB} GiB, ${system}, Bun ${Bun.version}, Redis ${results.redis} on the same cores`;
  const priority = results.isRedisPreferred
    ? "ran in the real-time class, so that the times of its calls are its own"
    : "shared the cores with all else, and the times of its calls contain what it waited for them";
  return `# How cost grows

${results.date.slice(0, 10)}, ${machine}. A Lua loop of 10,000,000 rounds took Redis ${results.yardstickMs.toFixed(0)} ms. Load average at the end: ${loadBefore.toFixed(2)}. Redis ${priority}.

![CPU of a job by size](cost.svg)

![Jobs per second by size](rate.svg)

${chapterOf(results.measured, results.bounds)}
`;
}

function chart(title: string, { measured }: GrowthResults, shown: readonly Column[]): string {
  return lineChart(
    title,
    measured.map((each) => panelOf(each, shown)).filter(({ lines }) => lines.length > 0),
  );
}

function panelOf({ dimension, points }: Measured, shown: readonly Column[]): Panel {
  const lines = shown.map((column): Line => {
    const known = points.flatMap(({ size, values }) =>
      values[column] === undefined ? [] : [{ x: size, y: values[column] }],
    );
    return { label: labels[column] ?? column, points: known };
  });
  return {
    title: dimension.name,
    xLabel: dimension.unit,
    lines: lines.filter(({ points }) => points.length > 0),
  };
}
