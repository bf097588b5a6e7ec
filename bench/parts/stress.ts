import { on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import type { Part } from "./part.ts";

/** A burst of everything. */
export const stress: Part = {
  name: "stress",
  summary: "5,000 mixed jobs (half compute, half wait) at concurrency 4, 8 and 16 (short: 16)",
  run: (bench) =>
    compare(bench, {
      part: "stress",
      points: (bench.isQuick ? [16] : [4, 8, 16]).map((concurrency) => ({
        ...{ workload: "mixed", concurrency, jobs: 5000, paced: bench.isQuick ? "slow" : "none" },
      })),
      systems: on(bench, "redis"),
      repetitions: bench.isQuick ? 1 : bench.repetitions,
    }),
};
