import type { IntegrityReport } from "../../src/index.ts";
import type { History } from "./history/history.ts";
import type { PublicationLine } from "./jobs/ledger-line.ts";
import type { Run } from "./ledger.ts";
import type { Strike } from "./strike.ts";

/** All that is known of a run when it is over, from sources that do not know of each other. */
export interface Evidence {
  /** By the jobs themselves. */
  readonly runs: readonly Run[];
  /** By the publishers. */
  readonly publications: readonly PublicationLine[];
  /** By the store's own record of its steps. */
  readonly history: History;
  /** By the library's integrity check, after everything was published and drained. */
  readonly integrity: Pick<IntegrityReport, "states" | "isSound" | "lost">;
  /** By who did them. */
  readonly strikes: readonly Strike[];
  /** Faults that are no reason for any job to run again. */
  readonly harmless: ReadonlySet<string>;
  /** When each process that ended did so, by node. */
  readonly exits: ReadonlyMap<string, number>;
}
