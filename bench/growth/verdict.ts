import type { Bound } from "./bounds.ts";
import { type Claim, columns, type Dimension, type Measured, type Point } from "./dimension.ts";

/** No call may hold Redis for longer. */
export const longestMs = 5;
/**
 * SLOWLOG tells wall clock times. Where Redis was kept waiting for a core, calls over the bound are its own only
 * when more than this part of all are.
 */
const chanceShare = 0.01;

/** What a claim came to. */
export interface Growth {
  readonly claim: Claim;
  /** How many times as much at the largest size as at the one compared with; NaN when one was not measured. */
  readonly factor: number;
  readonly holds: boolean;
}

export function growthOf({ points }: Measured, claim: Claim): Growth {
  const known = points.filter(
    ({ size, values }) => size >= (claim.from ?? 0) && values[claim.of] !== undefined,
  );
  const [first, last] = [known[0]?.values[claim.of], known.at(-1)?.values[claim.of]];
  const factor = first === undefined || last === undefined ? Number.NaN : last / first;
  return { claim, factor, holds: factor <= claim.atMost };
}

/** Calls over the bound at one point. */
export interface Overlong {
  readonly name: string;
  readonly size: number;
  readonly count: number;
  readonly of: number;
  readonly longestMs: number;
  /** Too many for chance. */
  readonly isItsOwn: boolean;
}

export function overlongAt({ size, seen }: Point): Overlong[] {
  const over = seen.longCalls.filter(({ ms }) => ms > longestMs);
  // Commands inside of a script are in the log as well, beside the script itself.
  const ofScripts = over.filter(({ name }) => name.endsWith(".lua"));
  return [...Map.groupBy(ofScripts.length > 0 ? ofScripts : over, ({ name }) => name)].map(
    ([name, calls]) => ({
      ...{ name, size, count: calls.length, of: seen.scriptCalls },
      longestMs: calls[0]!.ms,
      isItsOwn:
        seen.redisWaitedMs < calls[0]!.ms || calls.length / Math.max(1, seen.scriptCalls) > chanceShare,
    }),
  );
}

/** Whether each claim of a dimension holds, and its calls over the bound, a line each. */
export function verdictOf(measured: Measured): string[] {
  const { dimension, points } = measured;
  const growths = dimension.claims.map((claim) => growthOf(measured, claim));
  return [
    ...growths.map((growth) => lineOfGrowth(dimension, growth)),
    ...points.flatMap(overlongAt).map((each) => lineOfOverlong(dimension, each)),
  ];
}

function lineOfGrowth({ name }: Dimension, { claim, factor, holds }: Growth): string {
  const what = `${name}: ${columns[claim.of].title}`;
  const allowed = `at most ${claim.atMost} was stated`;
  if (Number.isNaN(factor)) return `${what}: not measured`;
  return `${what}: ${factor.toFixed(2)} times from the smallest to the largest, ${allowed}: ${holds ? "holds" : "DOES NOT HOLD"}`;
}

function lineOfOverlong({ name, unit }: Dimension, each: Overlong): string {
  const share = `${each.count} of ${each.of} calls, the longest ${each.longestMs.toFixed(1)} ms`;
  const why = each.isItsOwn ? "OVER the bound" : "so few are those that the system interrupted";
  return `${name}, ${each.size} ${unit}: ${each.name} took over ${longestMs} ms in ${share}: ${why}`;
}

/** The provoked calls that are over the bound in most rounds, a line each. */
export function verdictOfBounds(all: readonly Bound[]): string[] {
  return all
    .filter(({ medianMs }) => medianMs > longestMs)
    .map(({ what, medianMs }) => `bounds: "${what}" took ${medianMs.toFixed(1)} ms: OVER the bound`);
}
