import type { Bench } from "../method/bench.ts";

/** A subcommand: something that is measured, alone or as a part of the whole. */
export interface Part {
  /** The subcommand, and the title of its chapter in the report. */
  readonly name: string;
  /** One line for `--help` and for the report: what is measured, and how. */
  readonly summary: string;
  run(bench: Bench): Promise<void>;
}
