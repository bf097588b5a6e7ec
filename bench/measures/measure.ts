import type { Stage } from "../support/stage.ts";

/** What the user may turn. */
export interface Knobs {
  /** Runs of each system in each comparison. */
  readonly repetitions: number;
  /** Factor on all numbers of jobs. */
  readonly scale: number;
}

/** One line of the table at the end. */
export interface Row {
  readonly what: string;
  readonly reached: string;
  /** Empty: shown for orientation. */
  readonly target: string;
  /** Undefined where there is no target. */
  readonly isReached: boolean | undefined;
}

export interface Outcome {
  readonly rows: readonly Row[];
  /** Everything measured, for the JSON file. */
  readonly data: unknown;
}

/** Run on a private Redis, or on another stage. */
export interface Measure<S = Stage> {
  readonly name: string;
  run(stage: S, knobs: Knobs, log: (line: string) => void): Promise<Outcome>;
}

export function info(what: string, reached: string): Row {
  return { what, reached, target: "", isReached: undefined };
}

export function jobsOf(jobs: number, { scale }: Knobs): number {
  return Math.max(1, Math.round(jobs * scale));
}

/** Who goes first changes with every round, so that a drift of the machine hits all alike. */
export function inTurn<T>(systems: readonly T[], round: number): T[] {
  return round % 2 === 0 ? [...systems] : [...systems].reverse();
}
