import type { SiteEngine } from "../../support/site.ts";
import { deathFacts } from "./deaths.ts";
import { outageFacts } from "./outages.ts";
import { stopFacts } from "./stops.ts";

/** A time that users can rely on: what is measured, how often, and what it should be. */
export interface Fact {
  readonly what: string;
  readonly engines: readonly SiteEngine[];
  readonly times: number;
  readonly goalMs?: number;
  /** Why this machine cannot measure it. */
  readonly reasonAgainst?: () => string | undefined;
  /** Resolves to milliseconds. */
  measure(engine: SiteEngine): Promise<number>;
}

export interface FactResult {
  readonly what: string;
  readonly ms: readonly number[];
  readonly goalMs: number | undefined;
}

const allFacts: readonly Fact[] = [...deathFacts, ...outageFacts, ...stopFacts];

/** Measures all facts of an engine, one after the other. */
export async function measureFacts(
  engine: SiteEngine,
  tell: (result: FactResult) => void,
): Promise<FactResult[]> {
  const results: FactResult[] = [];
  for (const { what, engines, times, goalMs, reasonAgainst, measure } of allFacts) {
    const reason = reasonAgainst?.();
    if (!engines.includes(engine) || reason !== undefined) continue;
    const ms: number[] = [];
    for (let i = 0; i < times; i++) ms.push(Math.round(await measure(engine)));
    const result = { what, ms: ms.sort((a, b) => a - b), goalMs };
    results.push(result);
    tell(result);
  }
  return results;
}

/** For people. */
export function factText({ what, ms, goalMs }: FactResult): string {
  const median = ms[Math.floor((ms.length - 1) / 2)];
  const goal = goalMs === undefined ? "" : `, goal ${goalMs}${(ms.at(-1) ?? 0) <= goalMs ? "" : " MISSED"}`;
  return `${what}: median ${median} ms, longest ${ms.at(-1)} ms of ${ms.length}${goal}`;
}
