import { type Bench, notInShort, on } from "../method/bench.ts";
import { compare, type Point } from "../method/compare.ts";
import type { Workload } from "../workloads/workload.ts";
import type { Part } from "./part.ts";

const family = [1, 2, 4, 8];
const beyond = [5, 10, 15, 16, 50, 100, 200];

/** Jobs for about two seconds of a fast system at a concurrency of 1 and of more. */
function jobsOf(workload: Workload, concurrency: number): number {
  switch (workload) {
    case "io":
      return 350 * concurrency;
    case "mixed":
      return Math.min(20_000, 600 * concurrency);
    case "cpu":
      return 6000;
    default:
      return 3000;
  }
}

function points({ options }: Bench): Point[] {
  const point = (workload: Workload, concurrency: number): Point => ({
    ...{ workload, concurrency, jobs: jobsOf(workload, concurrency), paced: "slow" },
  });
  const short = [...(["cpu", "mixed", "fib"] as const), "io" as const].flatMap((workload) =>
    family.map((concurrency) => point(workload, concurrency)),
  );
  if (!options.isFull) return short;
  return [
    ...short,
    ...(["io", "mixed"] as const).flatMap((workload) => beyond.map((count) => point(workload, count))),
  ];
}

/** The family's grid. */
export const grid: Part = {
  name: "grid",
  summary: "cpu, io, mixed and fib(25) by concurrency, beside plain Web Workers without a queue",
  async run(bench) {
    if (bench.isQuick) return notInShort(bench, "grid");
    await compare(bench, {
      part: "grid",
      points: points(bench),
      systems: on(bench, "redis", "none"),
      repetitions: bench.repetitions,
    });
  },
};
