import type { CatalogStore, EntrySet, RequeueResult, StoredEntry } from "../store/catalog-store.ts";
import { type BulkOptions, type PurgeResult, purge, type RequeueAllResult, requeueAll } from "./bulk.ts";
import { type CatalogEntry, catalogEntry } from "./entry.ts";
import { itemsOf } from "./pages.ts";

/** What an entry is addressed by: any entry that the catalog gave. */
export type EntryReference = Pick<StoredEntry, "locator">;

/** One of the sets `planned`, `retrying` and `discarded`. */
export class CatalogSet {
  private readonly store: CatalogStore;
  private readonly set: EntrySet;

  constructor(store: CatalogStore, set: EntrySet) {
    this.store = store;
    this.set = set;
  }

  async size(): Promise<number> {
    return (await this.store.counters())[this.set];
  }

  /** Its entries from the earliest time, read in pages: `at` is when they are due or were discarded. */
  async *entries(options: { readonly signal?: AbortSignal } = {}): AsyncGenerator<CatalogEntry> {
    const place = { state: this.set };
    const read = (cursor: string | undefined) => this.store.entries(place, { cursor });
    for await (const entry of itemsOf(read, options.signal)) yield catalogEntry(entry);
  }

  /** The entry of a job, or undefined. Reads the set in pages until it is found. */
  async locate(
    id: string,
    options: { readonly signal?: AbortSignal } = {},
  ): Promise<CatalogEntry | undefined> {
    const place = { state: this.set };
    const read = (cursor: string | undefined) => this.store.entries(place, { cursor, id });
    for await (const entry of itemsOf(read, options.signal)) return catalogEntry(entry);
    return undefined;
  }

  /** Takes an entry away for good. False when it is no longer there. */
  remove(entry: EntryReference): Promise<boolean> {
    return this.store.remove(this.set, entry.locator);
  }

  /**
   * Moves an entry into its channel, to run as soon as its turn comes. It stays as it is but for the time at
   * which it was queued: with the failures counted so far, a discarded job is discarded again at its next one.
   */
  requeue(entry: EntryReference): Promise<RequeueResult> {
    return this.store.requeue(this.set, entry.locator);
  }

  /** Requeues all entries that are there at the beginning. */
  requeueAll(options: BulkOptions = {}): Promise<RequeueAllResult> {
    return requeueAll(this.store, this.set, options);
  }

  /** Takes all entries away for good. */
  purge(options: BulkOptions = {}): Promise<PurgeResult> {
    return purge(this.store, { state: this.set }, options);
  }
}
