import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Row } from "../measures/measure.ts";

/** The rows as a table, for a terminal. */
export function table(rows: readonly Row[]): string {
  const cells = [
    ["", "reached", "target", ""],
    ...rows.map(({ what, reached, target, isReached }) => [what, reached, target, verdict(isReached)]),
  ];
  const widths = [0, 1, 2, 3].map((column) => Math.max(...cells.map((row) => row[column]!.length)));
  return cells
    .map((row) =>
      row
        .map((cell, column) => cell.padEnd(widths[column]!))
        .join("  ")
        .trimEnd(),
    )
    .join("\n");
}

function verdict(isReached: boolean | undefined): string {
  if (isReached === undefined) return "";
  return isReached ? "reached" : "MISSED";
}

const results = join(import.meta.dir, "..", "results");

/** Keeps a result of a suite beside the earlier ones. @returns the file's name */
export async function save(suite: string, result: { date: string }): Promise<string> {
  mkdirSync(results, { recursive: true });
  const name = `${suite}-${result.date.slice(0, 19).replaceAll(":", "-")}.json`;
  await Bun.write(join(results, name), `${JSON.stringify(result, null, 2)}\n`);
  return name;
}
