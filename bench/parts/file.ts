import { readFileSync } from "node:fs";
import { join } from "node:path";
import { on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import type { Part } from "./part.ts";

/** In the folder in which the workers run. */
const name = "appended.txt";

/** Short work on the disk. */
export const file: Part = {
  name: "file",
  summary: "jobs that append a line to a file, at concurrency 10: 50,000 (short: 10,000)",
  run: (bench) =>
    compare(bench, {
      part: "file",
      points: [
        {
          ...{ workload: "file", concurrency: 10, jobs: bench.options.isFull ? 50_000 : 10_000 },
          paced: bench.options.isFull ? "none" : "slow",
        },
      ],
      systems: on(bench, "redis"),
      around: { file: name },
      repetitions: bench.isQuick ? 1 : bench.repetitions,
      check: ({ folder }, { jobs }) => linesAmiss(join(folder, name), jobs),
    }),
};

function linesAmiss(path: string, jobs: number): string | undefined {
  const lines = readFileSync(path, "utf8").trimEnd().split("\n");
  const different = new Set(lines).size;
  if (lines.length === jobs && different === jobs) return undefined;
  return `expected ${jobs} different lines in the file, found ${lines.length}, ${different} of them different`;
}
