import { decodeEnvelope } from "../envelope/codec.ts";
import { UndecodableEnvelope } from "../foundation/errors.ts";
import type { StoredEntry } from "./catalog-store.ts";

/** What the text of a stored envelope tells of it. */
export type EntryReading = Pick<StoredEntry, "id" | "channel" | "problem">;

/** Reads an envelope of any layout; `text` is only its beginning unless it is whole. */
export function readEntry(
  text: string,
  { isWhole, bytes }: { readonly isWhole: boolean; readonly bytes: number },
): EntryReading {
  return isWhole ? decoded(text) : beginning(text, bytes);
}

function decoded(text: string): EntryReading {
  try {
    const { id, channel } = decodeEnvelope(text);
    return { id, channel, problem: undefined };
  } catch (error) {
    if (!(error instanceof UndecodableEnvelope)) throw error;
    const record = recordFrom(text);
    return { id: textIn(record, "id"), channel: textIn(record, "channel"), problem: error.message };
  }
}

const quoted = String.raw`"(?:[^"\\]|\\.)+"`;
const head = new RegExp(String.raw`^\s*\{\s*"id"\s*:\s*(${quoted})(?:\s*,\s*"channel"\s*:\s*(${quoted}))?`);

/** What the first bytes of a very large envelope tell: members of the family write the id first. */
function beginning(text: string, bytes: number): EntryReading {
  const [, id, channel] = head.exec(text) ?? [];
  if (id === undefined) {
    const problem = `cannot be read: ${bytes} bytes that do not begin with the id of an envelope`;
    return { id: undefined, channel: undefined, problem };
  }
  return {
    id: unquoted(id),
    channel: channel === undefined ? undefined : unquoted(channel),
    problem: undefined,
  };
}

function unquoted(json: string): string | undefined {
  const value = parsed(json);
  return typeof value === "string" ? value : undefined;
}

/** A JSON object, or an empty one for any other text. */
export function recordFrom(text: string): Record<string, unknown> {
  const value = parsed(text);
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? (value as Record<string, unknown>)
    : {};
}

export function textIn(record: Record<string, unknown>, name: string): string | undefined {
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  return typeof value === "string" && value !== "" ? value : undefined;
}

export function numberIn(record: Record<string, unknown>, name: string): number | undefined {
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  return typeof value === "number" ? value : undefined;
}

export function textsIn(record: Record<string, unknown>, name: string): string[] {
  const value = Object.hasOwn(record, name) ? record[name] : undefined;
  return Array.isArray(value) ? value.filter((item) => typeof item === "string") : [];
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const ownHead = /^\{"id":"[^"]*","channel":"[^"]*","_solid_jobs_publication":"[^"]*","queued_ms":(\d+)/;

/** When the envelope that begins with `text` was queued: epoch milliseconds, or undefined. */
export function queuedMsOf(text: string): number | undefined {
  const own = ownHead.exec(text)?.[1];
  return own === undefined ? numberIn(recordFrom(text), "queued_ms") : Number(own);
}
