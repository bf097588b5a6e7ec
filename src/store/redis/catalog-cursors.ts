import { StoreError } from "../../foundation/errors.ts";

/** Where the reading of a list stands. */
export interface ListCursor {
  /** From the left, where new envelopes come in. */
  readonly index: number;
  /** Marks of the entries read last, the newest read at the end; see `repeated`. */
  readonly tail: readonly string[];
}

/** Where the reading of a sorted set stands: `seen` entries of `score` have been read. */
export interface SetCursor {
  readonly score: string;
  readonly seen: number;
}

/** How an entry of a sorted set is found again without its bytes, which a reply does not carry exactly. */
export interface Locator {
  readonly score: string;
  readonly digest: string;
  /** Its place among the entries of this score when it was read: where to look first. */
  readonly place: number;
  /** Its channel, where the scripts cannot tell it themselves. */
  readonly channel: string | undefined;
}

export function listCursor(text: string | undefined): ListCursor {
  if (text === undefined) return { index: 0, tail: [] };
  const [index, tail] = listFrom(text, "cursor");
  if (!isCount(index) || !Array.isArray(tail)) throw foreign("cursor", text);
  return { index, tail: tail.map(String) };
}

export function setCursor(text: string | undefined): SetCursor {
  if (text === undefined) return { score: "", seen: 0 };
  const [score, seen] = listFrom(text, "cursor");
  if (typeof score !== "string" || !isCount(seen)) throw foreign("cursor", text);
  return { score, seen };
}

export function listCursorText({ index, tail }: ListCursor): string {
  return JSON.stringify([index, tail]);
}

export function setCursorText({ score, seen }: SetCursor): string {
  return JSON.stringify([score, seen]);
}

export function locatorText({ score, digest, place, channel }: Locator): string {
  // A channel whose name is not valid UTF-8 arrived with replacement characters: it is another name now.
  const isExact = channel !== undefined && !channel.includes("\ufffd");
  return JSON.stringify([score, digest, place, ...(isExact ? [channel] : [])]);
}

export function locatorFrom(text: string): Locator {
  const [score, digest, place, channel] = listFrom(text, "locator");
  const isValid =
    typeof score === "string" &&
    Number.isFinite(Number(score)) &&
    typeof digest === "string" &&
    isCount(place);
  if (!isValid) throw foreign("locator", text);
  return { score, digest, place, channel: typeof channel === "string" ? channel : undefined };
}

/**
 * How many entries at the beginning of a page were read before. Envelopes published between two calls shift
 * a list, so that the page begins with entries that the last one ended with. Each page begins one entry
 * early, so that a true double across the border is not taken for a shift.
 */
export function repeated(tail: readonly string[], marks: readonly string[]): number {
  for (let count = 1; count <= Math.min(tail.length, marks.length); count++) {
    const from = tail.length - count;
    if (marks.slice(0, count).every((mark, i) => mark === tail[from + i])) return count;
  }
  return 0;
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

function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

function foreign(what: string, text: string): StoreError {
  return new StoreError(
    `expected a ${what} that this catalog gave, got ${JSON.stringify(text.slice(0, 80))}`,
  );
}
