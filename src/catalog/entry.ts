import { decodeEnvelope } from "../envelope/codec.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { UndecodableEnvelope } from "../foundation/errors.ts";
import type { StoredEntry } from "../store/catalog-store.ts";

/** A stored envelope as the catalog shows it. */
export interface CatalogEntry extends StoredEntry {
  /** Undefined when it is malformed (`problem` says why) or too large to be shown whole. */
  readonly envelope: Envelope | undefined;
}

export function catalogEntry(stored: StoredEntry): CatalogEntry {
  if (!stored.isWhole || stored.problem !== undefined) return { ...stored, envelope: undefined };
  try {
    return { ...stored, envelope: decodeEnvelope(stored.text) };
  } catch (error) {
    if (!(error instanceof UndecodableEnvelope)) throw error;
    return { ...stored, envelope: undefined, problem: error.message };
  }
}
