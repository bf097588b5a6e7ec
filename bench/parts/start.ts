import { recordExecutableStarts } from "../embedded/executable-start.ts";
import { on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import type { Part } from "./part.ts";

const usualStarts = 15;
const quickStarts = 3;

/** How soon a new process works. */
export const start: Part = {
  name: "start",
  summary:
    "from the start of the process to its first job, with 10 waiting, at concurrency 1; 15 starts; and of an executable",
  async run(bench) {
    const repetitions = bench.options.repetitions ?? (bench.isQuick ? quickStarts : usualStarts);
    await compare(bench, {
      part: "start",
      points: [{ workload: "noop", concurrency: 1, jobs: 10, paced: "none" }],
      systems: on(bench, "redis", "sqlite").filter(({ role }) => role !== "yardstick"),
      repetitions,
    });
    const isOursChosen = bench.systems.some(({ name }) => name === "solid-jobs-embedded");
    if (isOursChosen) await recordExecutableStarts(bench, "start", repetitions);
  },
};
