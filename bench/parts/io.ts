import { on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import type { Part } from "./part.ts";

/** Whether slots that wait for something else cost anything. */
export const io: Part = {
  name: "io",
  summary: "jobs that wait 5 ms, at concurrency 8 (and 1, 50), beside the same without a queue",
  run: (bench) =>
    compare(bench, {
      part: "io",
      points: (bench.isQuick ? [8] : [1, 8, 50]).map((concurrency) => ({
        ...{ workload: "io", concurrency, jobs: 300 * concurrency, paced: "slow" },
      })),
      systems: on(bench, "redis", "none"),
      repetitions: bench.repetitions,
    }),
};
