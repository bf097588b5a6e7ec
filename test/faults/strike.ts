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

/** What has begun or ended so shortly before or after counts as running: the ledger's times are whole ms. */
const slackMs = 3;

/** The executions that a strike met while they ran. One that met none is not counted as a fault. */
export function hitsOf(strike: Strike, runs: readonly Run[]): Run[] {
  const { at, until, isFatal } = strike;
  return runs.filter((run) => {
    if (!concerns(strike, run)) return false;
    const endedAt = run.endedAt ?? run.cutAt ?? Number.POSITIVE_INFINITY;
    if (isFatal === true) return run.endedAt === undefined && run.beganAt <= until && endedAt >= at;
    return run.beganAt <= at + slackMs && endedAt >= at - slackMs;
  });
}

export function concerns({ scope }: Strike, { node }: Pick<Run, "node">): boolean {
  return scope === "all" || scope.includes(node);
}
