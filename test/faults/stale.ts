import type { Evidence } from "./evidence.ts";
import type { Step } from "./history/history.ts";
import type { Run } from "./ledger.ts";

/** Clocks are read in whole milliseconds. */
const slackMs = 2;

/** A thread's death and what its conductor settles for it lie within this time. */
const buryingMs = 10_000;

/**
 * Settlements that took effect although their claim had been taken over, or had not come to its end. By the
 * store's history against the jobs' ledger:
 *
 * - a job that leaves the store, or is failed, without being claimed
 * - a claim that is settled as done, and no run under its token came to a good end, or only later
 * - a claim that is settled as failed before its run failed, or although it did not and no thread died
 */
export function staleSettlements(evidence: Evidence): string[] {
  const byToken = Map.groupBy(evidence.runs, ({ token }) => token);
  const problems = evidence.history.steps.map((step) =>
    problemOf(step, byToken.get(step.token ?? "") ?? [], evidence),
  );
  return problems.filter((problem) => problem !== undefined);
}

function problemOf(step: Step, runs: readonly Run[], evidence: Evidence): string | undefined {
  const { id, from, to, token } = step;
  if (from !== "claimed") {
    const hasLeft = from !== undefined && (to === undefined || to === "discarded");
    return hasLeft ? `STALE: ${id} went from ${from} to ${to ?? "nowhere"} without being claimed` : undefined;
  }
  if (token === undefined) return `STALE: ${id} left a claim that has no token`;
  if (to === undefined) return doneTooEarly(step, runs);
  if (to === "discarded" || to === "retrying") return failedTooEarly(step, runs, evidence);
  return undefined;
}

function doneTooEarly({ id, token, doneBy }: Step, runs: readonly Run[]): string | undefined {
  const good = runs.find(({ isDone }) => isDone);
  if (good === undefined)
    return `STALE: ${id} was settled as done under ${token}, whose run did not end well`;
  return isEarlier(doneBy, good)
    ? `STALE: ${id} was settled as done under ${token} before its run ended`
    : undefined;
}

/** What a dead thread held is failed for it, however far it was. */
function failedTooEarly(
  { id, token, doneBy }: Step,
  runs: readonly Run[],
  { strikes }: Evidence,
): string | undefined {
  const bad = runs.find(({ isDone }) => isDone === false);
  if (bad !== undefined && !isEarlier(doneBy, bad)) return undefined;
  if (bad !== undefined) return `STALE: ${id} was failed under ${token} before its run ended`;
  const by = doneBy ?? Number.POSITIVE_INFINITY;
  const hasDeath = strikes.some(
    ({ scope, at, until }) => scope !== "all" && at <= by && until + buryingMs >= by,
  );
  return hasDeath
    ? undefined
    : `STALE: ${id} was failed under ${token}, and neither did its run fail nor a thread die`;
}

function isEarlier(doneBy: number | undefined, { endedAt }: Run): boolean {
  return doneBy !== undefined && endedAt !== undefined && doneBy + slackMs < endedAt;
}
