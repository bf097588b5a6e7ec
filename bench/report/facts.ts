import type { Machine } from "../method/machine.ts";
import type { RunRecord } from "../method/record.ts";
import type { SubjectSummary } from "./summaries.ts";

/** Under which circumstances a benchmark ran. */
export interface Facts {
  /** ISO 8601, of its beginning. */
  readonly date: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly knobs: Readonly<Record<string, number | boolean>>;
  readonly systems: readonly string[];
  readonly parts: readonly { readonly name: string; readonly summary: string }[];
}

/** All that a benchmark has to tell. */
export interface Results {
  readonly facts: Facts;
  readonly runs: readonly RunRecord[];
  readonly summaries: readonly SubjectSummary[];
  /** What was left out, and why. */
  readonly notes: readonly string[];
}
