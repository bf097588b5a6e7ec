import type { CatalogStore, EntryPlace } from "../store/catalog-store.ts";
import { type CatalogEntry, catalogEntry } from "./entry.ts";
import { walk } from "./walk.ts";

/** Where a job is. */
export interface JobLocation {
  readonly place: EntryPlace;
  readonly entry: CatalogEntry;
}

/** A job that moves behind a walk's back is met by the next one. */
const walksAtMost = 3;

/**
 * Where a job is stored, or undefined: it was acked or dropped, or never published. Reads everything in
 * pages until it is found.
 */
export async function locate(
  store: CatalogStore,
  id: string,
  signal?: AbortSignal,
): Promise<JobLocation | undefined> {
  for (let walks = 0; walks < walksAtMost; walks++) {
    for await (const sighting of walk(store, { id, withText: true, signal })) {
      if (sighting.kind !== "entries") continue;
      const entry = sighting.entries[0];
      if (entry !== undefined) return { place: sighting.place, entry: catalogEntry(entry) };
    }
  }
  return undefined;
}
