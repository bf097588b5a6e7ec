import { notInShort, on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import type { Part } from "./part.ts";

const concurrency = 10;

/** Whether a longer queue is a slower one. */
export const sizes: Part = {
  name: "sizes",
  summary: "no-op jobs/s with 20,000, 100,000 and (full) 1,000,000 jobs waiting, at concurrency 10",
  async run(bench) {
    if (bench.isQuick) return notInShort(bench, "sizes");
    await compare(bench, {
      part: "sizes",
      points: [20_000, 100_000, ...(bench.options.isFull ? [1_000_000] : [])].map((jobs) => ({
        ...{ workload: "noop", concurrency, jobs, paced: "none" },
      })),
      systems: on(bench, "redis", "sqlite").filter(({ role }) => role !== "yardstick"),
      repetitions: bench.repetitions,
    });
  },
};
