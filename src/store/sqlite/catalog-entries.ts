import type { Page, PageOptions, StoredEntry } from "../catalog-store.ts";
import { readEntry } from "../entry-reading.ts";
import { locatorText, rowCursorText } from "./catalog-cursors.ts";
import type { CatalogStatements, EntryRow } from "./catalog-statements.ts";
import { textOf } from "./head.ts";

export const entriesPerCall = 100;
export const bytesPerCall = 1024 * 1024;
/** Rows looked at for one job's id, which needs nothing of their payloads. */
const rowsPerSearch = 1000;
/** What is shown of a payload that is larger than a call may read. */
const headBytes = 4096;
/** Where the arguments of our own envelopes have begun. */
const ownHeadBytes = 8192;

const ownLayout =
  // biome-ignore lint/suspicious/noControlCharactersInRegex: names with control characters are not ours
  /^\{"id":"([^"\\\u0000-\u001f]+)","channel":"([^"\\\u0000-\u001f]+)","_solid_jobs_publication":"[^"\\]*","queued_ms":\d+,"task":"[^"\\]+"/;

/** The table of a row; those of `jobs` are in one of the sets, have a time and can be addressed. */
export type EntryTable = keyof CatalogStatements["contents"];

/** How many rows a page wants at most. */
export function rowsWanted({ id }: PageOptions): number {
  return id === undefined ? entriesPerCall : rowsPerSearch;
}

/** A page of the rows that a query gave for `rowsWanted`: as many as their bytes allow, but always one. */
export function entryPage(
  statements: CatalogStatements,
  rows: readonly EntryRow[],
  options: PageOptions & { readonly from: EntryTable },
): Page<StoredEntry> {
  const items: StoredEntry[] = [];
  let bytes = 0;
  let last: EntryRow | undefined;
  for (const row of rows) {
    const isMeant = options.id === undefined || row.id === options.id;
    if (isMeant && items.length > 0 && bytes + row.bytes > bytesPerCall) break;
    last = row;
    if (!isMeant) continue;
    bytes += row.bytes;
    items.push(storedEntry(statements, row, options));
  }
  const isEnd = last === undefined || (last === rows.at(-1) && rows.length < rowsWanted(options));
  return { items, cursor: isEnd || last === undefined ? undefined : rowCursorText(last) };
}

/** A row as the catalog shows it. */
export function storedEntry(
  statements: CatalogStatements,
  row: EntryRow,
  { from, withText = true }: { readonly from: EntryTable; readonly withText?: boolean },
): StoredEntry {
  const isTimed = from === "jobs";
  const { text, isWhole, own } = content(statements, row, from);
  const reading = own ?? readEntry(text, { isWhole, bytes: row.bytes });
  const isShown = own === undefined || withText;
  return {
    ...reading,
    at: isTimed ? row.at : undefined,
    bytes: row.bytes,
    text: isShown ? text : "",
    isWhole: isShown && isWhole,
    locator: isTimed ? locatorText(row) : "",
  };
}

interface Content {
  readonly text: string;
  readonly isWhole: boolean;
  /** What the head of an envelope of our own layout tells. */
  readonly own: { id: string; channel: string; problem: undefined } | undefined;
}

function content(
  statements: CatalogStatements,
  { channel = 0, seq, bytes }: EntryRow,
  from: EntryTable,
): Content {
  const { payload, ends: endsOf } = statements.contents[from];
  if (bytes <= bytesPerCall) {
    const text = textOf(payload.get(channel, seq)?.payload ?? "");
    return { text, isWhole: true, own: ownReading(text, text.endsWith("}")) };
  }
  const ends = endsOf.get(channel, seq, ownHeadBytes);
  const head = textOf(ends?.head ?? "");
  const own = ownReading(head, ends?.tail[0] === 0x7d);
  return { text: head.slice(0, headBytes), isWhole: false, own };
}

function ownReading(text: string, isClosed: boolean): Content["own"] {
  const [, id, channel] = ownLayout.exec(text) ?? [];
  if (id === undefined || channel === undefined || !isClosed) return undefined;
  return text.includes(',"arguments":[') ? { id, channel, problem: undefined } : undefined;
}
