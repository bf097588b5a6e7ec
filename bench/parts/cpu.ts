import { on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import type { Part } from "./part.ts";

/** Whether all cores work, and what the queue takes of them. */
export const cpu: Part = {
  name: "cpu",
  summary: "jobs of about 7 ms of computing at concurrency 2, beside plain Web Workers without a queue",
  run: (bench) =>
    compare(bench, {
      part: "cpu",
      points: [{ workload: "cpu-long", concurrency: 2, jobs: bench.isQuick ? 500 : 1000, paced: "none" }],
      systems: on(bench, "redis", "none"),
      repetitions: bench.repetitions,
    }),
};
