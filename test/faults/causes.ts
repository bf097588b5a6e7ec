import type { Evidence } from "./evidence.ts";
import { aftermathMs } from "./fault.ts";
import type { Run } from "./ledger.ts";
import { concerns, type Strike } from "./strike.ts";

/** How often each answer is given. */
export function countBy<T>(items: readonly T[], answer: (item: T) => string): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const item of items) counts[answer(item)] = (counts[answer(item)] ?? 0) + 1;
  return counts;
}

/** The cause of each execution that is not its job's first, how long it took to come, and those that nothing explains. */
export function executionCauses(evidence: Evidence): {
  causes: Record<string, number>;
  slowestMs: Record<string, number>;
  unexplained: string[];
} {
  const causes: string[] = [];
  const slowestMs: Record<string, number> = {};
  const unexplained: string[] = [];
  for (const runs of Map.groupBy(evidence.runs, ({ id }) => id).values()) {
    const ordered = runs.toSorted((a, b) => a.beganAt - b.beganAt);
    for (const [index, next] of ordered.entries()) {
      const before = ordered[index - 1];
      if (before === undefined) continue;
      const cause = causeOf(before, next, evidence);
      causes.push(cause ?? "unexplained");
      if (cause !== undefined && before.cutAt !== undefined)
        slowestMs[cause] = Math.max(slowestMs[cause] ?? 0, next.beganAt - before.cutAt);
      if (cause !== undefined) continue;
      const times = [before, next].map(({ node, beganAt, endedAt }) => `${node} ${beganAt}-${endedAt ?? ""}`);
      unexplained.push(`TWICE WITHOUT A CAUSE: ${next.id} (${next.key}): ${times.join(", then ")}`);
    }
  }
  return { causes: countBy(causes, (cause) => cause), slowestMs, unexplained };
}

/** A clean stop puts jobs back a little before its process is gone. */
const leavingMs = 3000;

/** The fault that hit the earlier execution's claim between its beginning and the next one's. */
function causeOf(before: Run, next: Run, { strikes, exits, harmless }: Evidence): string | undefined {
  if (before.isDone === false && before.token !== next.token) return "failed";
  const struck = strikes.filter(
    (strike) =>
      !harmless.has(strike.fault) &&
      concerns(strike, before) &&
      strike.at <= next.beganAt &&
      strike.until + aftermathMs >= before.beganAt,
  );
  const own = struck.filter(({ scope }) => scope !== "all");
  const ends = before.endedAt === undefined ? own.filter(({ isFatal }) => isFatal) : [];
  const forgets = struck.filter((strike) => mayForget(strike, before));
  const likely = [ends, forgets, own, struck].find((each) => each.length > 0) ?? [];
  const nearest = nearestTo(before.cutAt ?? next.beganAt, likely);
  if (nearest !== undefined) return nearest.fault;
  const endedAt = exits.get(before.node) ?? Number.POSITIVE_INFINITY;
  return before.endedAt === undefined && endedAt <= next.beganAt + leavingMs ? "its node's end" : undefined;
}

/** What was settled in the time that the store forgot is done again. */
function mayForget({ rollsBackSince, until }: Strike, { endedAt = 0 }: Run): boolean {
  return rollsBackSince !== undefined && endedAt >= rollsBackSince && endedAt <= until;
}

function nearestTo(at: number, strikes: readonly Strike[]): Strike | undefined {
  return strikes.toSorted((a, b) => Math.abs(a.at - at) - Math.abs(b.at - at))[0];
}
