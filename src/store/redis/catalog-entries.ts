import type { StoredEntry } from "../catalog-store.ts";
import { readEntry } from "../entry-reading.ts";
import { locatorText } from "./catalog-cursors.ts";

/** One entry as `catalog-page.lua` tells it. */
export interface EntryRow {
  readonly digest: string;
  readonly bytes: number;
  /** "" when the envelope is not in our own layout; its text then tells the rest. */
  readonly id: string;
  readonly channel: string;
  readonly text: string;
  readonly isWhole: boolean;
  /** "" outside the sets. */
  readonly score: string;
  /** Its place among the entries of one score. */
  readonly place: number;
}

export function entryFrom(row: EntryRow): StoredEntry {
  const isOwn = row.id !== "";
  const reading = isOwn ? { id: row.id, channel: row.channel, problem: undefined } : readEntry(row.text, row);
  const { score, digest, place } = row;
  const channelHint = isOwn ? undefined : reading.channel;
  return {
    ...reading,
    at: score === "" ? undefined : Number(score),
    bytes: row.bytes,
    text: row.text,
    isWhole: row.isWhole,
    locator: score === "" ? "" : locatorText({ score, digest, place, channel: channelHint }),
  };
}
