import type { Run } from "./ledger.ts";

/** One fault that was done to a run's world. */
export interface Strike {
  readonly fault: string;
  /** Epoch ms, just before. */
  readonly at: number;
  /** When it was over and undone. */
  readonly until: number;
  /** The nodes it was done to; "all": the store, or what leads to it. */
  readonly scope: readonly string[] | "all";
  /** It ends what it hits: a run that came to its end all the same was not hit. */
  readonly isFatal?: boolean;
  /** What the store's keeper may forget by it: what was confirmed since then. */
  readonly rollsBackSince?: number;
  /** What it was, in more words. */
  readonly detail?: string;
}

/** The executions that a strike met while they ran. One that met none is not counted as a fault. */
export function hitsOf(strike: Strike, runs: readonly Run[]): Run[] {
  return runs.filter(
    (run) =>
      concerns(strike, run) &&
      run.beganAt <= strike.until &&
      (run.endedAt ?? run.cutAt ?? Number.POSITIVE_INFINITY) >= strike.at &&
      (strike.isFatal !== true || run.endedAt === undefined),
  );
}

export function concerns({ scope }: Strike, { node }: Pick<Run, "node">): boolean {
  return scope === "all" || scope.includes(node);
}
