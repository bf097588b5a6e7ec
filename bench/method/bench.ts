import type { System } from "../systems/system.ts";
import type { Options } from "./options.ts";
import type { RedisPlace } from "./redis-place.ts";
import type { RunRecord } from "./record.ts";

/** What a part works with. */
export interface Bench {
  readonly options: Options;
  /** The chosen ones that are installed; the others have been named. */
  readonly systems: readonly System[];
  readonly redis: RedisPlace;
  /** Runs of each subject, where a part has no reason for another number. */
  readonly repetitions: number;
  /** Announces how many runs follow, for the progress bar. */
  expect(runs: number): void;
  /** Keeps a run for the report, and prints it. */
  record(run: RunRecord): void;
  /** Prints a line and keeps it for the report: what was left out, and why. */
  note(line: string): void;
}
