/** What the user may turn. */
export interface Options {
  /** The larger numbers and all points of the grids. */
  readonly isFull: boolean;
  /** Runs of each subject; undefined: each part's own default. */
  readonly repetitions: number | undefined;
  /** Factor on all numbers of jobs. */
  readonly scale: number;
  /** Names of systems; undefined: all. */
  readonly systems: readonly string[] | undefined;
  /** Of the stability run. */
  readonly minutes: number | undefined;
  /** Whether results are written. */
  readonly isSaved: boolean;
}
