import type { System } from "../systems/system.ts";
import type { Options } from "./options.ts";
import type { RunRecord } from "./record.ts";
import type { RedisPlace } from "./redis-place.ts";

/** What a part works with. */
export interface Bench {
  readonly options: Options;
  /** All parts in about ten minutes: few points, few repetitions, short spans. */
  readonly isQuick: boolean;
  /** Runs of each subject, where a part has no reason for another number. */
  readonly repetitions: number;
  /** The chosen ones that are installed; the others have been named. */
  readonly systems: readonly System[];
  readonly redis: RedisPlace;
  /** Announces how many runs follow, for the progress bar. */
  expect(runs: number): void;
  /** Keeps a run for the report, and prints it. */
  record(run: RunRecord): void;
  /** Prints a line and keeps it for the report: what was left out, and why. */
  note(line: string): void;
}

/** The chosen systems with this engine, or with one of these. */
export function on(bench: Bench, ...engines: readonly System["engine"][]): readonly System[] {
  return bench.systems.filter(({ engine }) => engines.includes(engine));
}

/** Says that a part is left out of a short run of all parts. */
export function notInShort(bench: Bench, part: string): void {
  bench.note(`${part} is left out of a short run of all parts; it has a subcommand of its own`);
}

/** Those of them whose running workers see what another process publishes; the others are named in a note. */
export function reachable(bench: Bench, part: string, systems: readonly System[]): readonly System[] {
  for (const { name, isAlone } of systems) {
    if (isAlone === true) {
      bench.note(`${part}: ${name} is left out, for its running workers do not see what others publish`);
    }
  }
  return systems.filter(({ isAlone }) => isAlone !== true);
}
