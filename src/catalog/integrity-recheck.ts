import type { CatalogStore, EntryPlace } from "../store/catalog-store.ts";
import { walk } from "./walk.ts";

/** What walks say of a job: stored in one place, in several, or in none. */
export type Verdict = "stored" | "double" | "absent";

export interface Doubt {
  verdict: Verdict;
  /** Walks in a row that came to this verdict. */
  times: number;
  places: readonly EntryPlace[];
  isAcked: boolean;
  isExpected: boolean;
}

/** A verdict against a job counts when this many walks in a row agree. */
const agreeingWalks = 3;
/** A store that changes all the time is not walked for ever. */
const walksAtMost = 6;

/**
 * Walks again for the jobs that look absent or double, until nothing is in doubt: a job that moved behind a
 * walk's cursor is neither lost nor double. Verdicts of `doubts` are brought up to date in place.
 */
export async function recheck(
  store: CatalogStore,
  doubts: Map<string, Doubt>,
  { signal, ackedAmong }: { signal?: AbortSignal | undefined; ackedAmong: AckedReader },
): Promise<void> {
  for (let walks = 1; walks < walksAtMost && hasOpen(doubts); walks++) {
    const places = await placesOf(store, doubts, signal);
    // Read after the walk: a job acked meanwhile is found here.
    for await (const id of ackedAmong(doubts)) doubts.get(id)!.isAcked = true;
    for (const [id, doubt] of doubts) renew(doubt, places.get(id) ?? []);
  }
}

/** Those of the given ids that are acked by now. */
export type AckedReader = (among: ReadonlyMap<string, unknown>) => AsyncIterable<string>;

function hasOpen(doubts: ReadonlyMap<string, Doubt>): boolean {
  for (const doubt of doubts.values()) if (isOpen(doubt)) return true;
  return false;
}

function isOpen({ verdict, times, isAcked }: Doubt): boolean {
  if (verdict === "absent" && isAcked) return false;
  // An acked job that looked stored may have been on its way out: seen again, it is stored.
  if (verdict === "stored") return isAcked && times < 2;
  return times < agreeingWalks;
}

function renew(doubt: Doubt, places: readonly EntryPlace[]): void {
  const verdict = places.length === 0 ? "absent" : places.length === 1 ? "stored" : "double";
  doubt.times = verdict === doubt.verdict ? doubt.times + 1 : 1;
  doubt.verdict = verdict;
  doubt.places = places;
}

async function placesOf(
  store: CatalogStore,
  doubts: ReadonlyMap<string, Doubt>,
  signal: AbortSignal | undefined,
): Promise<Map<string, EntryPlace[]>> {
  const found = new Map<string, EntryPlace[]>();
  for await (const sighting of walk(store, { signal })) {
    if (sighting.kind !== "entries") continue;
    for (const { id } of sighting.entries) {
      if (id === undefined || !doubts.has(id)) continue;
      const places = found.get(id);
      if (places === undefined) found.set(id, [sighting.place]);
      else places.push(sighting.place);
    }
  }
  return found;
}
