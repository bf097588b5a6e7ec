import { StoreError } from "../foundation/errors.ts";
import type {
  CatalogStore,
  ClaimHolder,
  ClaimView,
  EntryPlace,
  StoredEntry,
} from "../store/catalog-store.ts";
import { pagesOf } from "./pages.ts";

export interface WalkOptions {
  readonly signal?: AbortSignal | undefined;
  /** Only entries of this job. */
  readonly id?: string;
  readonly withText?: boolean;
}

/** What a walk over everything stored meets, a page at a time. */
export type Sighting =
  | { readonly kind: "entries"; readonly place: EntryPlace; readonly entries: readonly StoredEntry[] }
  /** A claim; its payloads follow as entries. */
  | { readonly kind: "claim"; readonly claim: ClaimView }
  | BrokenPlace;

/** A place that cannot be read. */
export interface BrokenPlace {
  readonly kind: "broken";
  readonly place: string;
  readonly reason: string;
}

/**
 * Walks over everything that is stored, along the way that a job takes: planned, retrying, ready, claimed,
 * discarded. A job that moves meanwhile may be met twice or not at all.
 */
export async function* walk(store: CatalogStore, options: WalkOptions = {}): AsyncGenerator<Sighting> {
  const { channels, nodes, holders, broken } = await everyName(store, options.signal);
  yield* broken;
  yield* entriesAt(store, { state: "planned" }, options);
  yield* entriesAt(store, { state: "retrying" }, options);
  for (const channel of channels) yield* entriesAt(store, { state: "ready", channel }, options);
  yield* claims(store, { nodes, holders }, options);
  yield* entriesAt(store, { state: "discarded" }, options);
}

interface Names {
  readonly channels: Set<string>;
  readonly nodes: Set<string>;
  /** By node and holder, so that none is there twice. */
  readonly holders: Map<string, ClaimHolder>;
  readonly broken: BrokenPlace[];
}

/** Names that are listed, and names that only the stored keys tell of. */
async function everyName(store: CatalogStore, signal: AbortSignal | undefined): Promise<Names> {
  const names: Names = { channels: new Set(), nodes: new Set(), holders: new Map(), broken: [] };
  const guarded = async (place: string, read: () => Promise<void>) => {
    try {
      await read();
    } catch (error) {
      names.broken.push(brokenSighting(place, error));
    }
  };
  await guarded("the list of channels", async () => {
    for await (const page of pagesOf((cursor) => store.channels(cursor), signal)) {
      for (const { name } of page) names.channels.add(name);
    }
  });
  await guarded("the list of nodes", async () => {
    for await (const page of pagesOf((cursor) => store.nodes(cursor), signal)) {
      for (const { identity } of page) names.nodes.add(identity);
    }
  });
  let cursor: string | undefined;
  do {
    signal?.throwIfAborted();
    const survey = await store.survey(cursor);
    for (const channel of survey.channels) names.channels.add(channel);
    for (const node of survey.nodes) names.nodes.add(node);
    for (const holder of survey.holders) names.holders.set(holderKey(holder), holder);
    cursor = survey.cursor;
  } while (cursor !== undefined);
  return names;
}

async function* entriesAt(
  store: CatalogStore,
  place: EntryPlace,
  options: WalkOptions,
): AsyncGenerator<Sighting> {
  const { signal, id, withText = false } = options;
  const read = (cursor: string | undefined) =>
    store.entries(place, { cursor, withText, ...(id === undefined ? {} : { id }) });
  try {
    for await (const entries of pagesOf(read, signal)) yield { kind: "entries", place, entries };
  } catch (error) {
    yield brokenSighting(describePlace(place), error);
  }
}

/** Claims that have a record, then payloads without one. */
async function* claims(
  store: CatalogStore,
  { nodes, holders }: Pick<Names, "nodes" | "holders">,
  options: WalkOptions,
): AsyncGenerator<Sighting> {
  const unseen = new Map(holders);
  for (const node of nodes) {
    try {
      for await (const page of pagesOf((cursor) => store.claims(node, cursor), options.signal)) {
        for (const claim of page) {
          unseen.delete(holderKey(claim));
          yield* oneClaim(store, claim, options);
        }
      }
    } catch (error) {
      yield brokenSighting(`the claims of ${node}`, error);
    }
  }
  for (const holder of unseen.values()) {
    options.signal?.throwIfAborted();
    try {
      const claim = await store.claim(holder);
      if (claim !== undefined) yield* oneClaim(store, claim, options);
    } catch (error) {
      yield brokenSighting(describePlace({ state: "claimed", ...holder }), error);
    }
  }
}

async function* oneClaim(
  store: CatalogStore,
  claim: ClaimView,
  options: WalkOptions,
): AsyncGenerator<Sighting> {
  yield { kind: "claim", claim };
  const place: EntryPlace = { state: "claimed", node: claim.node, holder: claim.holder };
  if (claim.payloads > 1) yield* entriesAt(store, place, options);
  else if (claim.entry !== undefined && (options.id === undefined || claim.entry.id === options.id)) {
    yield { kind: "entries", place, entries: [claim.entry] };
  }
}

/** A key of the wrong type does not stop a walk; a store that does not answer does. */
export function brokenSighting(place: string, error: unknown): BrokenPlace {
  if (!(error instanceof StoreError)) throw error;
  return { kind: "broken", place, reason: error.message };
}

export function holderKey({ node, holder }: ClaimHolder): string {
  return `${node}\n${holder}`;
}

/** For messages. */
export function describePlace(place: EntryPlace): string {
  switch (place.state) {
    case "ready":
      return `channel "${place.channel}"`;
    case "claimed":
      return `what ${place.holder} of ${place.node} holds`;
    default:
      return place.state;
  }
}
