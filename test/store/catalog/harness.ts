import type {
  CatalogStore,
  ChannelView,
  EntryPlace,
  EntrySet,
  Page,
  StoredEntry,
} from "../../../src/store/catalog-store.ts";
import type { TransferStore } from "../../../src/store/transfer-store.ts";

type Payload = string | Uint8Array;

/** A node's record as it may be found stored. */
export interface PlantedNode {
  readonly identity: string;
  /** JSON text, or anything else that was left there. */
  readonly info?: string;
  readonly beatSecondsAgo?: number;
  readonly busy?: number;
  readonly isQuiet?: boolean;
  readonly concurrency?: number;
}

/** What the suite must see and do behind a catalog's back. Each engine has its own. */
export interface CatalogHarness {
  /** On data of its own. */
  readonly catalog: CatalogStore;
  /** The way in and out of the same data. */
  readonly transfer: TransferStore;
  /** Publishes as any other program does: behind what is there, the first one first. */
  push(channel: string, ...payloads: readonly Payload[]): Promise<void>;
  /** What a channel holds, in the order in which it is taken. */
  channel(channel: string): Promise<readonly Uint8Array[]>;
  put(set: EntrySet, ...entries: readonly (readonly [at: number, payload: Payload])[]): Promise<void>;
  set(set: EntrySet): Promise<readonly Uint8Array[]>;
  /** Names of what is stored for moves. */
  journals(): Promise<readonly string[]>;
  /** Takes what a channel would give next. */
  take(channel: string, count: number): Promise<void>;
  /** Takes the earliest of a set. */
  takeEarliest(set: EntrySet, count: number): Promise<void>;
  count(done: { readonly processed: number; readonly failed: number }): Promise<void>;
  node(node: PlantedNode): Promise<void>;
  /** A node of this very process, which lives for certain. */
  liveNode(identity: string): Promise<void>;
  claim(node: string, slot: number, job: { readonly id: string; readonly payload: Payload }): Promise<void>;
  /** A claim without a payload, or a payload without a claim. */
  emptyClaim(node: string, slot: number, id: string): Promise<void>;
  unclaimed(payload: Payload): Promise<void>;
  running(node: string, executor: string, slot: number, json: string): Promise<void>;
  signals(node: string): Promise<readonly string[]>;
  /** Ids kept by the user, and the key they are read by. */
  ids(ids: readonly string[]): Promise<string>;
  close(): Promise<void>;
}

export interface CatalogEngine {
  readonly name: string;
  open(): Promise<CatalogHarness>;
}

export async function all<T>(read: (cursor: string | undefined) => Promise<Page<T>>): Promise<T[]> {
  const items: T[] = [];
  let cursor: string | undefined;
  do {
    const page = await read(cursor);
    items.push(...page.items);
    cursor = page.cursor;
  } while (cursor !== undefined);
  return items;
}

export function entriesOf(catalog: CatalogStore, where: EntryPlace, id?: string): Promise<StoredEntry[]> {
  return all((cursor) => catalog.entries(where, { cursor, ...(id === undefined ? {} : { id }) }));
}

export function channelsOf(catalog: CatalogStore): Promise<ChannelView[]> {
  return all((cursor) => catalog.channels(cursor));
}
