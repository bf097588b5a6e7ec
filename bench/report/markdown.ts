import type { Chart } from "./charts.ts";
import { rowsOf } from "./columns.ts";
import type { Facts, Results } from "./facts.ts";
import { goalRows, goalsOf } from "./goals/goals.ts";
import { markdownTable } from "./table.ts";

/** The whole of a benchmark in one document; the charts are beside it. */
export function markdownReport(results: Results, charts: ReadonlyMap<string, readonly Chart[]>): string {
  const { facts, notes } = results;
  return [
    `# Benchmark of ${facts.date.slice(0, 10)}`,
    conditions(facts),
    "Each number is the median of the runs, with the least and the greatest in brackets. A run in which not every job ran exactly once, without an error, is a failed run: it is named below and in no median. How to read all this, and what it does not show: [bench/README.md](../../README.md). Every single run is in `runs.csv`, everything in `results.json`.",
    goalChapter(results),
    failures(results),
    remarks(results),
    notes.length === 0 ? "" : `## Left out\n\n${notes.map((note) => `- ${note}`).join("\n")}`,
    ...facts.parts.map(({ name, summary }) =>
      chapter(results, { name, summary, charts: charts.get(name) ?? [] }),
    ),
  ]
    .filter(Boolean)
    .join("\n\n")
    .concat("\n");
}

function conditions({ date, machine, versions, knobs }: Facts): string {
  const { processor, cores, memoryGiB, system, fileSystem, loadBefore } = machine;
  const rows = [
    ["begun", date],
    ["machine", `${processor}, ${cores} cores, ${memoryGiB} GiB, ${system}, ${fileSystem}`],
    ["load average before", loadBefore.toFixed(2)],
    ["knobs", pairs(knobs)],
    ["versions", pairs(versions)],
  ];
  return markdownTable([["", ""], ...rows]);
}

function pairs(values: Readonly<Record<string, unknown>>): string {
  return Object.entries(values)
    .map(([name, value]) => `${name} ${String(value)}`)
    .join(", ");
}

function goalChapter(results: Results): string {
  const goals = goalsOf(results);
  if (goals.length === 0) return "";
  const reached = goals.filter(({ isReached }) => isReached === true).length;
  const missed = goals.filter(({ isReached }) => isReached === false).length;
  const unknown = goals.length - reached - missed;
  const counts = `${reached} reached, ${missed} not reached${unknown === 0 ? "" : `, ${unknown} not measured`}.`;
  return `## Goals\n\n${counts}\n\n${markdownTable(goalRows(goals))}`;
}

function failures({ runs }: Results): string {
  const failed = runs.filter(({ problem }) => problem !== undefined);
  if (failed.length === 0) return `## Failed runs\n\nNone of ${runs.length}.`;
  const rows = failed.map(({ part, workload, system, shape, jobs, repetition, problem = "" }) => [
    ...[part, workload, system, shape, jobs.toLocaleString("en"), String(repetition), problem],
  ]);
  const head = ["part", "workload", "system", "shape", "jobs", "run", "problem"];
  return `## Failed runs\n\n${failed.length} of ${runs.length}.\n\n${markdownTable([head, ...rows])}`;
}

function remarks({ runs }: Results): string {
  const odd = runs.flatMap(({ part, system, remark }) =>
    remark === undefined ? [] : [{ part, system, remark }],
  );
  if (odd.length === 0) return "";
  const lines = odd.map(({ part, system, remark }) => `${part}, ${system}: ${remark.split("\n")[0]}`);
  const counted = [...Map.groupBy(lines, (line) => line)].map(
    ([line, all]) => `- ${line} (${all.length} runs)`,
  );
  return `## Odd, though every job ran once\n\n${counted.join("\n")}`;
}

function chapter(
  { summaries }: Results,
  { name, summary, charts }: { name: string; summary: string; charts: readonly Chart[] },
): string {
  const own = summaries.filter(({ part }) => part === name);
  if (own.length === 0) return "";
  const images = charts.map(({ title, fileName }) => `![${title}](charts/${fileName})`);
  const sentence = `${summary[0]?.toUpperCase()}${summary.slice(1)}.`;
  return [`## ${name}`, sentence, ...images, markdownTable(rowsOf(own))].join("\n\n");
}
