import type { GivenSettings } from "../config/given.ts";
import { Catalog } from "./catalog.ts";
import type { IntegrityReport } from "./integrity-report.ts";
import type { IntegrityOptions } from "./integrity-run.ts";

export interface IntegrityCheckOptions extends IntegrityOptions {
  /** The store to check. Default: that of this process, see `configure`. */
  readonly settings?: GivenSettings | undefined;
}

/**
 * Accounts for every job: what is lost, orphaned, claimed without right, counted without being there, double
 * or malformed, and the state of every id.
 *
 * It reads in pages while jobs move, and never holds the store up. Ids that look lost or double are looked
 * for again, in three walks that must agree, and doubtful claims are read again before they are reported.
 * Jobs delivered at most once are stored nowhere while they run: they look lost until they are acked.
 *
 * Memory: about 200 bytes for each id.
 *
 * @throws StoreUnavailable | StoreError (an `ackedKey` that holds no ids) | the signal's reason
 */
export async function integrityCheck(options: IntegrityCheckOptions = {}): Promise<IntegrityReport> {
  const catalog = new Catalog(options.settings);
  try {
    return await catalog.integrityCheck(options);
  } finally {
    await catalog.close();
  }
}
