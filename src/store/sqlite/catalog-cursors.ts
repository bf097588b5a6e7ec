import { StoreError } from "../../foundation/errors.ts";

/** Where the reading of a channel or set stands: the last row that was looked at. */
export interface RowCursor {
  readonly at: number;
  readonly seq: number;
}

/** How an entry is found again: its row, with what tells a later job in the same row apart. */
export interface Locator extends RowCursor {
  readonly id: string;
}

export function rowCursorFrom(text: string): RowCursor {
  const [at, seq] = listFrom(text, "cursor");
  if (!isTime(at) || !isSeq(seq)) throw foreign("cursor", text);
  return { at: Number(at), seq };
}

export function rowCursorText({ at, seq }: RowCursor): string {
  return JSON.stringify([timeText(at), seq]);
}

export function locatorFrom(text: string): Locator {
  const [at, seq, id] = listFrom(text, "locator");
  if (!isTime(at) || !isSeq(seq) || typeof id !== "string") throw foreign("locator", text);
  return { at: Number(at), seq, id };
}

export function locatorText({ at, seq, id }: Locator): string {
  return JSON.stringify([timeText(at), seq, id]);
}

/** The number that a cursor of one number holds, 0 for the beginning. */
export function numberFrom(text: string | undefined): number {
  if (text === undefined) return 0;
  const value = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (!isSeq(value)) throw foreign("cursor", text);
  return value;
}

/** What a cursor of several texts and numbers holds. */
export function partsFrom(text: string): unknown[] {
  return listFrom(text, "cursor");
}

/** JSON has no infinite numbers, but a time may be one. */
function timeText(at: number): string {
  return String(at);
}

function isTime(value: unknown): value is string {
  return typeof value === "string" && value !== "" && !Number.isNaN(Number(value));
}

function isSeq(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function listFrom(text: string, what: string): unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    if (Array.isArray(value)) return value;
  } catch {
    // said below, as for any other text that is none of ours
  }
  throw foreign(what, text);
}

function foreign(what: string, text: string): StoreError {
  return new StoreError(
    `expected a ${what} that this catalog gave, got ${JSON.stringify(text.slice(0, 80))}`,
  );
}
