import { markdownTable } from "../report/table.ts";
import type { Bound } from "./bounds.ts";
import { type Column, columns, type Measured, type Point } from "./dimension.ts";
import { longestMs, verdictOf, verdictOfBounds } from "./verdict.ts";

const columnNames = Object.keys(columns) as Column[];

/** A dimension's points as rows with a head. */
export function rowsOf({ dimension, points }: Measured): string[][] {
  const shown = columnNames.filter((name) => points.some(({ values }) => values[name] !== undefined));
  const head = [
    dimension.unit,
    ...shown.map((name) => columns[name].title),
    "longest call ms",
    `over ${longestMs} ms`,
  ];
  const rows = points.map((point) => [
    point.size.toLocaleString("en"),
    ...shown.map((name) => valueText(name, point.values[name])),
    ...callsText(point),
  ]);
  return [head, ...rows];
}

function valueText(name: Column, value: number | undefined): string {
  if (value === undefined) return "";
  const { decimals } = columns[name];
  return value.toLocaleString("en", { minimumFractionDigits: decimals, maximumFractionDigits: decimals });
}

function callsText({ seen: { longCalls, scriptCalls } }: Point): string[] {
  const longest = longCalls.find(({ name }) => name.endsWith(".lua")) ?? longCalls[0];
  const over = longCalls.filter(({ name, ms }) => ms > longestMs && name.endsWith(".lua")).length;
  return [
    longest === undefined ? "under 0.25" : `${longest.ms.toFixed(1)} (${longest.name})`,
    over === 0 ? "none" : `${over} of ${scriptCalls.toLocaleString("en")}`,
  ];
}

/** The whole as Markdown, below a heading of the second level. */
export function chapterOf(all: readonly Measured[], measuredBounds: readonly Bound[]): string {
  const sections = all.map((measured) => {
    const { title, statement } = measured.dimension;
    return [
      `### ${capital(title)}`,
      `${capital(statement)}.`,
      markdownTable(rowsOf(measured)),
      listOf(verdictOf(measured)),
    ].join("\n\n");
  });
  return [...sections, boundsSection(measuredBounds)].join("\n\n");
}

function boundsSection(all: readonly Bound[]): string {
  const rows = all.map(({ what, worstMs, medianMs }) => [what, medianMs.toFixed(2), worstMs.toFixed(2)]);
  return [
    "### The longest calls, provoked one by one",
    "Each on an otherwise idle Redis, five rounds.",
    markdownTable([["call", "median ms", "worst ms"], ...rows]),
    listOf(verdictOfBounds(all)),
  ].join("\n\n");
}

function listOf(lines: readonly string[]): string {
  return lines.map((line) => `- ${line}`).join("\n");
}

function capital(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}
