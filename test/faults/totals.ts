import type { RunResult } from "./run.ts";

/** What all runs of a campaign came to. */
export interface Totals {
  readonly runs: number;
  readonly failed: readonly number[];
  readonly published: number;
  readonly unconfirmed: number;
  readonly refused: Readonly<Record<string, number>>;
  readonly executed: number;
  readonly executedMoreThanOnce: number;
  readonly causes: Readonly<Record<string, number>>;
  readonly slowestMs: Readonly<Record<string, number>>;
  readonly archived: number;
  readonly stillStored: number;
  readonly rolledBack: number;
  readonly lost: number;
  readonly settledStale: number;
  readonly faults: Readonly<Record<string, number>>;
  readonly hits: number;
  readonly missed: number;
  readonly lostReplies: Readonly<Record<string, number>>;
}

export function totalsOf(results: readonly RunResult[]): Totals {
  const sum = (number: (result: RunResult) => number) =>
    results.reduce((total, each) => total + number(each), 0);
  const merged = (counts: (result: RunResult) => Readonly<Record<string, number>>) =>
    mergedCounts(results.map(counts));
  return {
    runs: results.length,
    failed: results.filter(({ problems }) => problems.length > 0).map(({ seed }) => seed),
    published: sum(({ published }) => published),
    unconfirmed: sum(({ unconfirmed }) => unconfirmed),
    refused: merged(({ refused }) => refused),
    executed: sum(({ executed }) => executed),
    executedMoreThanOnce: sum((result) => result.executedMoreThanOnce),
    causes: merged(({ causes }) => causes),
    slowestMs: longest(results.map(({ slowestMs }) => slowestMs)),
    archived: sum(({ archived }) => archived),
    stillStored: sum(({ stillStored }) => stillStored),
    rolledBack: sum(({ rolledBack }) => rolledBack),
    lost: sum(({ lost }) => lost),
    settledStale: sum(({ settledStale }) => settledStale),
    faults: merged(({ faults }) => faults),
    hits: sum(({ hits }) => hits),
    missed: sum(({ missed }) => missed),
    lostReplies: merged(({ lostReplies }) => lostReplies),
  };
}

/** The most frequent first. */
function mergedCounts(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const total = new Map<string, number>();
  for (const counts of all)
    for (const [name, count] of Object.entries(counts)) total.set(name, (total.get(name) ?? 0) + count);
  return Object.fromEntries([...total].sort(([, a], [, b]) => b - a));
}

function longest(all: readonly Readonly<Record<string, number>>[]): Record<string, number> {
  const most: Record<string, number> = {};
  for (const times of all)
    for (const [name, ms] of Object.entries(times)) most[name] = Math.max(most[name] ?? 0, ms);
  return Object.fromEntries(Object.entries(most).sort(([, a], [, b]) => b - a));
}

const listed = (counts: Readonly<Record<string, number>>) =>
  Object.entries(counts)
    .map(([name, count]) => `${name} ${count}`)
    .join(", ") || "none";

/** For people. */
export function totalsText(totals: Totals): string {
  const lines: [string, string | number][] = [
    ["runs", totals.runs],
    [
      "published",
      `${totals.published} (of ${totals.unconfirmed} more it is unknown; refused: ${listed(totals.refused)})`,
    ],
    ["executed at least once", totals.executed],
    ["executed more than once", totals.executedMoreThanOnce],
    ["  further executions by cause", listed(totals.causes)],
    ["  the slowest of those cut off, ms", listed(totals.slowestMs)],
    ["archived", totals.archived],
    ["still stored", totals.stillStored],
    ["rolled back by the store", totals.rolledBack],
    ["lost", totals.lost],
    ["settled by a stale claim", totals.settledStale],
    ["faults that met running claims", listed(totals.faults)],
    ["  claims they met", totals.hits],
    ["  faults that met none", `${totals.missed}, not counted`],
    ["replies lost after execution", listed(totals.lostReplies)],
    ["failed runs", totals.failed.length === 0 ? "none" : `seeds ${totals.failed.join(", ")}`],
  ];
  return lines.map(([what, value]) => `${what.padEnd(32)} ${value}`).join("\n");
}
