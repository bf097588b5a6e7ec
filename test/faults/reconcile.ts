import { countBy, executionCauses } from "./causes.ts";
import type { Evidence } from "./evidence.ts";
import { kindOf } from "./jobs/kinds.ts";
import { staleSettlements } from "./stale.ts";
import { hitsOf } from "./strike.ts";

/** What a run came to. It is sound when `problems` is empty. */
export interface Verdict {
  /** Confirmed to their publisher. */
  readonly published: number;
  /** Stored or not is unknown to their publisher. */
  readonly unconfirmed: number;
  /** Certainly not stored, by the error's code; published again. */
  readonly refused: Readonly<Record<string, number>>;
  readonly executed: number;
  readonly executedMoreThanOnce: number;
  /** What each execution after a job's first came from; failures of the job's own among them. */
  readonly causes: Readonly<Record<string, number>>;
  /** The longest time from an execution's being cut off to the next one of its job, by the cause. */
  readonly slowestMs: Readonly<Record<string, number>>;
  readonly archived: number;
  readonly stillStored: number;
  /** Confirmed, and forgotten by the store with a fault that may do so. */
  readonly rolledBack: number;
  readonly lost: number;
  readonly settledStale: number;
  /** Faults that met running claims, by name; others are not counted. */
  readonly faults: Readonly<Record<string, number>>;
  /** Running claims that faults met. */
  readonly hits: number;
  readonly missed: number;
  /** Commands whose replies were lost after they had been executed. */
  readonly lostReplies: Readonly<Record<string, number>>;
  readonly problems: readonly string[];
}

/** Compares what is known from the publishers, the jobs, the store's history and its integrity check. */
export function reconcile(evidence: Evidence): Verdict {
  const { runs, publications, integrity, strikes } = evidence;
  const problems: string[] = [];
  const of = (what: string) => publications.filter((line) => line.what === what);
  const confirmed = new Set(of("confirmed").flatMap(({ ids }) => ids));
  const unconfirmed = new Set(of("unconfirmed").flatMap(({ ids }) => ids));
  const done = new Set(runs.filter(({ isDone }) => isDone).map(({ id }) => id));
  const executed = new Set(runs.map(({ id }) => id));
  const missing = [...confirmed].filter((id) => !done.has(id) && !isStored(integrity.states.get(id)));
  const rolledBack = missing.filter((id) => wasRolledBack(id, evidence));
  const lost = missing.filter((id) => !rolledBack.includes(id));
  problems.push(...lost.map((id) => `LOST: ${id} was published and is neither done nor stored`));
  const stale = staleSettlements(evidence);
  problems.push(...stale);
  problems.push(
    ...doubled(evidence),
    ...uncalledFor(evidence, confirmed, unconfirmed),
    ...endings(evidence, new Set(rolledBack)),
  );
  const { causes, slowestMs, unexplained } = executionCauses(evidence);
  problems.push(...unexplained);
  const { lost: reportedLost } = integrity;
  const surprising = reportedLost.filter((id) => !missing.includes(id));
  problems.push(...surprising.map((id) => `the integrity check calls ${id} lost, the ledger does not`));
  if (!integrity.isSound && reportedLost.length === 0)
    problems.push("the integrity check finds the store unsound");
  const left = [...integrity.states].filter(([, state]) => isStored(state) && state !== "discarded");
  problems.push(...left.map(([id, state]) => `NOT DONE: ${id} is ${state} after everything was done`));
  const landed = strikes.map((strike) => ({ strike, hits: hitsOf(strike, runs).length }));
  const counted = landed.filter(({ hits }) => hits > 0).map(({ strike }) => strike);
  const losses = strikes.filter(({ fault }) => fault === "lost-reply");
  return {
    published: confirmed.size,
    unconfirmed: unconfirmed.size,
    refused: countBy(of("refused"), ({ code }) => code ?? ""),
    executed: executed.size,
    executedMoreThanOnce: runs.length === 0 ? 0 : moreThanOnce(evidence),
    causes,
    slowestMs,
    archived: [...integrity.states.values()].filter((state) => state === "discarded").length,
    stillStored: left.length,
    rolledBack: rolledBack.length,
    lost: lost.length,
    settledStale: stale.length,
    faults: countBy(counted, ({ fault }) => fault),
    hits: landed.reduce((sum, { hits }) => sum + hits, 0),
    missed: landed.length - counted.length,
    lostReplies: countBy(losses, ({ detail }) => detail ?? ""),
    problems,
  };
}

function isStored(state: string | undefined): boolean {
  return state !== undefined && state !== "acked" && state !== "lost";
}

function moreThanOnce({ runs }: Evidence): number {
  const times = countBy(runs, ({ id }) => id);
  return Object.values(times).filter((count) => count > 1).length;
}

/** The store's surviving history does not know it, and a fault struck that may have that effect. */
function wasRolledBack(id: string, { history, publications, strikes }: Evidence): boolean {
  if (history.steps.some((step) => step.id === id)) return false;
  const at = publications.find(({ what, ids }) => what === "confirmed" && ids.includes(id))?.at ?? 0;
  return strikes.some(
    ({ rollsBackSince, until }) => rollsBackSince !== undefined && at >= rollsBackSince && at <= until,
  );
}

function doubled({ history }: Evidence): string[] {
  const twice = history.steps.filter(({ from, to }) => from === undefined && to !== undefined);
  const stored = countBy(twice, ({ id }) => id);
  return [
    ...history.doubled.map(({ id, places }) => `DOUBLED: ${id} stood in ${places.join(" and ")} at a time`),
    ...Object.entries(stored)
      .filter(([, times]) => times > 1)
      .map(([id, times]) => `DOUBLED: ${id} was stored ${times} times`),
  ];
}

/** A publication that was refused is not stored; what runs was published by somebody. */
function uncalledFor({ history, runs, publications }: Evidence, ...known: ReadonlySet<string>[]): string[] {
  const stored = new Set(history.steps.map(({ id }) => id));
  const refused = publications.filter(({ what }) => what === "refused").flatMap(({ ids }) => ids);
  const keys = new Set(publications.flatMap((line) => line.keys));
  const strange = runs.filter(({ id, key }) => !known.some((ids) => ids.has(id)) && !keys.has(key));
  return [
    ...refused.filter((id) => stored.has(id)).map((id) => `REFUSED AND STORED: ${id}`),
    ...strange.map(({ id }) => `UNPUBLISHED: ${id} ran and nobody published it`),
  ];
}

/** A job ends as its kind must, unless the store forgot that there was one. */
function endings({ runs, integrity }: Evidence, rolledBack: ReadonlySet<string>): string[] {
  const keys = new Map(runs.map(({ id, key }) => [id, key]));
  const problems: string[] = [];
  for (const [id, key] of keys) {
    if (rolledBack.has(id)) continue;
    const isArchived = integrity.states.get(id) === "discarded";
    if (isArchived !== (kindOf(key).ending === "archived"))
      problems.push(`WRONG ENDING: ${id} (${key}) is ${isArchived ? "archived" : "not archived"}`);
  }
  return problems;
}
