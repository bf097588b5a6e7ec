import type { Machine } from "../method/machine.ts";
import type { RunRecord } from "../method/record.ts";
import type { System } from "../systems/system.ts";
import type { SubjectSummary } from "./summaries.ts";

/** Under which circumstances a benchmark ran. */
export interface Facts {
  /** ISO 8601, of its beginning. */
  readonly date: string;
  readonly machine: Machine;
  readonly versions: Readonly<Record<string, string>>;
  readonly knobs: Readonly<Record<string, number | boolean>>;
  readonly systems: readonly SystemFacts[];
  readonly parts: readonly { readonly name: string; readonly summary: string }[];
}

/** What the report has to know of a system. */
export type SystemFacts = Pick<System, "name" | "role" | "engine" | "keepsJobs">;

/** All that a benchmark has to tell. */
export interface Results {
  readonly facts: Facts;
  readonly runs: readonly RunRecord[];
  readonly summaries: readonly SubjectSummary[];
  /** What was left out, and why. */
  readonly notes: readonly string[];
}
