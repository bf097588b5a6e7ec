import type { CatalogStore, EntrySet, PurgeablePlace } from "../store/catalog-store.ts";
import { itemsOf } from "./pages.ts";

export interface BulkOptions {
  /** Stops between two steps; what was done stays done. */
  readonly signal?: AbortSignal | undefined;
  /** Told after each step. */
  readonly onProgress?: ((progress: { readonly done: number; readonly total: number }) => void) | undefined;
}

export interface PurgeResult {
  readonly removed: number;
  /** False when the signal stopped it. */
  readonly isComplete: boolean;
}

export interface RequeueAllResult {
  readonly requeued: number;
  /** Entries that stay: they name no channel, or one whose key cannot take them. */
  readonly kept: number;
  /** False when the signal stopped it. */
  readonly isComplete: boolean;
}

const stepSize = 100;

/** Takes away what was there at the beginning, in bounded steps. */
export async function purge(
  store: CatalogStore,
  place: PurgeablePlace,
  { signal, onProgress }: BulkOptions,
): Promise<PurgeResult> {
  let removed = 0;
  let total: number | undefined;
  for (;;) {
    if (signal?.aborted) return { removed, isComplete: false };
    const step = await store.purgeStep(place, { isFurther: total !== undefined });
    total ??= step.removed + step.remaining;
    removed += step.removed;
    onProgress?.({ done: removed, total });
    if (step.remaining === 0 || removed >= total) return { removed, isComplete: true };
  }
}

/**
 * Requeues what was there at the beginning, the earliest first, in bounded steps. Jobs that fail again
 * meanwhile and come back are left alone.
 */
export async function requeueAll(
  store: CatalogStore,
  set: EntrySet,
  { signal, onProgress }: BulkOptions,
): Promise<RequeueAllResult> {
  const total = (await store.counters())[set];
  let requeued = 0;
  let kept = 0;
  while (requeued + kept < total) {
    if (signal?.aborted) return { requeued, kept, isComplete: false };
    const most = Math.min(stepSize, total - requeued - kept);
    const step = await store.requeueStep(set, { skip: kept, most, isFurther: requeued + kept > 0 });
    if (step.requeued + step.kept === 0) break; // others took the rest
    requeued += step.requeued;
    kept += step.kept;
    onProgress?.({ done: requeued + kept, total });
  }
  const late = kept === 0 ? 0 : await requeueKept(store, set, kept, signal);
  return { requeued: requeued + late, kept: kept - late, isComplete: !signal?.aborted };
}

/** What a step kept is large or foreign: here its text can be decoded, and its locator names the channel. */
async function requeueKept(
  store: CatalogStore,
  set: EntrySet,
  kept: number,
  signal: AbortSignal | undefined,
): Promise<number> {
  const locators: string[] = [];
  let looked = 0;
  for await (const entry of itemsOf((cursor) => store.entries({ state: set }, { cursor, withText: false }))) {
    if (entry.channel !== undefined) locators.push(entry.locator);
    looked += 1;
    if (looked >= kept || signal?.aborted) break;
  }
  let requeued = 0;
  for (const locator of locators) {
    if (signal?.aborted) break;
    if ((await store.requeue(set, locator)) === "requeued") requeued += 1;
  }
  return requeued;
}
