import { on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import type { Part } from "./part.ts";

const few = [1, 4, 50];
const all = [1, 2, 4, 5, 8, 10, 15, 16, 50, 100, 200];

/** What a queue costs: jobs that do nothing. */
export const throughput: Part = {
  name: "throughput",
  summary: "no-op jobs/s on Redis from a filled queue, by concurrency; beside them serial PINGs",
  run: (bench) =>
    compare(bench, {
      part: "throughput",
      points: (bench.options.isFull ? all : few).map((concurrency) => ({
        ...{ workload: "noop", concurrency, jobs: bench.isQuick ? 10_000 : 20_000, paced: "each" },
      })),
      systems: on(bench, "redis"),
      repetitions: bench.repetitions,
    }),
};
