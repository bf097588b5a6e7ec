import { integrityCheck } from "solid-jobs";
import { count } from "./summary.ts";

export interface IntegrityVerdict {
  readonly text: string;
  readonly problems: readonly string[];
}

/**
 * Asks the store to account for every job once the node has stopped: all are done, so none may still be
 * stored, and the check itself must find nothing wrong.
 */
export async function storeIntegrity(
  ids: readonly string[],
  doneIds: ReadonlySet<string>,
): Promise<IntegrityVerdict> {
  const report = await integrityCheck({ expectedIds: ids, ackedIds: doneIds });
  const { acked, lost, ...stored } = report.counts;
  const left = Object.entries(stored).filter(([, jobs]) => jobs > 0);
  const faults = {
    lost: lost,
    orphaned: report.orphaned.length,
    "invalid claims": report.invalidClaims.length,
    "dangling attempts": report.danglingAttempts.length,
    duplicates: report.duplicates.length,
    malformed: report.malformed.length,
    "unreadable places": report.broken.length,
  };
  const isSound = report.isSound && left.length === 0;
  const numbers = Object.entries(faults).map(([name, found]) => `${count(found)} ${name}`);
  return {
    text: `${isSound ? "sound" : "NOT SOUND"}: ${count(acked)} done, ${numbers.join(", ")}`,
    problems: [
      ...(report.isSound ? [] : [`the integrity check failed: ${numbers.join(", ")}`]),
      ...left.map(([state, jobs]) => `${count(jobs)} jobs are still ${state} after the node has stopped`),
    ],
  };
}
