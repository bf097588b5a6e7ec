import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { csvOf } from "./csv.ts";
import type { Results } from "./facts.ts";

const resultsFolder = join(import.meta.dir, "..", "results");

/** Writes a folder of its own for these results. @returns its path from the root of the repository */
export async function save(results: Results): Promise<string> {
  const { date, parts, knobs } = results.facts;
  const what = parts.length > 1 ? (knobs["full"] === true ? "full" : "short") : parts[0]!.name;
  const name = `${date.slice(0, 19).replaceAll(":", "-")}-${what}`;
  const folder = join(resultsFolder, name);
  mkdirSync(folder, { recursive: true });
  await Bun.write(join(folder, "results.json"), `${JSON.stringify(results, null, 1)}\n`);
  await Bun.write(join(folder, "runs.csv"), csvOf(results.runs));
  return `bench/results/${name}`;
}
