import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { type Chart, chartsOf } from "./charts.ts";
import { csvOf } from "./csv.ts";
import type { Results } from "./facts.ts";
import { goalsOf } from "./goals/goals.ts";
import { markdownReport } from "./markdown.ts";

const resultsFolder = join(import.meta.dir, "..", "results");

/** Writes a folder of its own for these results. @returns its path from the root of the repository */
export async function save(results: Results): Promise<string> {
  const { date, parts, knobs } = results.facts;
  const what = parts.length > 1 ? (knobs["full"] === true ? "full" : "short") : parts[0]!.name;
  const name = `${date.slice(0, 19).replaceAll(":", "-")}-${what}`;
  await saveIn(join(resultsFolder, name), results);
  return `bench/results/${name}`;
}

/** `report.md`, `runs.csv`, `results.json` and a folder of charts. */
export async function saveIn(folder: string, results: Results): Promise<void> {
  mkdirSync(join(folder, "charts"), { recursive: true });
  const charts = new Map<string, Chart[]>();
  for (const { name } of results.facts.parts) charts.set(name, await chartsOf(results, name));
  for (const { fileName, svg } of [...charts.values()].flat()) {
    await Bun.write(join(folder, "charts", fileName), svg);
  }
  await Bun.write(join(folder, "report.md"), markdownReport(results, charts));
  await Bun.write(join(folder, "runs.csv"), csvOf(results.runs));
  const data = { ...results, goals: goalsOf(results) };
  await Bun.write(join(folder, "results.json"), `${JSON.stringify(data, null, 1)}\n`);
}
