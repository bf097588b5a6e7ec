import { rowsOf } from "./columns.ts";
import type { Results } from "./facts.ts";
import { goalRows, goalsOf } from "./goals/goals.ts";
import { briefMetrics } from "./metrics.ts";
import { table } from "./table.ts";

/** The medians of all parts, and the goals. */
export function terminalReport(results: Results): string {
  const chapters = results.facts.parts.map(({ name }) => {
    const own = results.summaries.filter(({ part }) => part === name);
    return own.length === 0 ? "" : `\n${name}\n${table(rowsOf(own, briefMetrics))}`;
  });
  const goals = goalsOf(results);
  const last = goals.length === 0 ? "" : `\ngoals\n${table(goalRows(goals))}`;
  return [...chapters, last].filter(Boolean).join("\n");
}
