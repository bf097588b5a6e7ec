import { markdownTable } from "../report/table.ts";
import type { Bound } from "./bounds.ts";
import { type Column, columns, type Measured, type Point } from "./dimension.ts";
import { growthOf, longestMs, verdictOf, verdictOfBounds } from "./verdict.ts";

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
  return [markdownTable(summaryRows(all)), ...sections, boundsSection(measuredBounds)].join("\n\n");
}

/** What each dimension came to, in a line for each claim. */
function summaryRows(all: readonly Measured[]): string[][] {
  const rows = all.flatMap((measured) => {
    const { name, unit, claims } = measured.dimension;
    const [least, most] = [measured.points[0], measured.points.at(-1)];
    const longest = measured.points.map(longestOf).sort((a, b) => b - a)[0] ?? 0;
    return claims.map((claim) => {
      const { factor, holds } = growthOf(measured, claim);
      const from = (claim.from ?? least?.size ?? 0).toLocaleString("en");
      return [
        ...[name, `${from} to ${most?.size.toLocaleString("en") ?? ""} ${unit}`, columns[claim.of].title],
        ...[`${factor.toFixed(2)} times`, `at most ${claim.atMost}`, holds ? "holds" : "does not hold"],
        longest === 0 ? "under 0.25" : longest.toFixed(1),
      ];
    });
  });
  return [["what", "sizes", "figure", "grew", "stated", "", "longest call ms"], ...rows];
}

/** In milliseconds; 0 when none took 0.25. */
function longestOf({ seen: { longCalls } }: Point): number {
  return longCalls.find(({ name }) => name.endsWith(".lua"))?.ms ?? 0;
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
