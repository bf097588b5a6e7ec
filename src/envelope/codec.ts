import { isUtf8 } from "node:buffer";
import { UndecodableEnvelope } from "../foundation/errors.ts";
import { type Envelope, wireNames } from "./envelope.ts";
import { envelopeShape, envelopeText, idTextOf, type ShapeFields } from "./parts.ts";
import { fieldSpans } from "./spans.ts";

/** What a new envelope is made of; `argumentsJson` is the JSON text of the arguments, used as it is. */
export interface NewEnvelope extends ShapeFields {
  readonly id: string;
  readonly argumentsJson: string;
  readonly nowMs: number;
}

/** The stored text of a new envelope. */
export function encodeEnvelope(e: NewEnvelope): string {
  const { id, nowMs, argumentsJson } = e;
  return envelopeText({ shape: envelopeShape(e), idText: idTextOf(id), nowMs, argumentsJson });
}

/**
 * Reads a stored envelope. `arguments: {}` is read as `[]` (the Ruby member's re-encoding of an empty
 * array). Missing optional fields take the family's defaults.
 *
 * @throws UndecodableEnvelope naming the field at fault
 */
export function decodeEnvelope(raw: string): Envelope {
  let record: unknown;
  try {
    record = JSON.parse(raw);
  } catch (error) {
    throw new UndecodableEnvelope(`not JSON: ${error instanceof Error ? error.message : error}`, {
      cause: error,
    });
  }
  if (typeof record !== "object" || record === null || Array.isArray(record)) {
    throw new UndecodableEnvelope(`expected a JSON object, got ${describe(record)}`);
  }
  return envelopeFrom(record as Record<string, unknown>);
}

function envelopeFrom(record: Record<string, unknown>): Envelope {
  const text = (name: string): string => {
    const value = own(record, name);
    if (typeof value !== "string" || value === "") {
      throw new UndecodableEnvelope(`"${name}" must be a text, got ${describe(value)}`);
    }
    return value;
  };
  const number = (name: string, otherwise: number): number => {
    const value = own(record, name);
    return typeof value === "number" ? value : otherwise;
  };
  const envelope: Decoded = {
    id: text("id"),
    task: text("task"),
    arguments: argumentsFrom(own(record, "arguments")),
    channel: text("channel"),
    maxFailures: number(wireNames.maxFailures, 25),
    createdMs: number(wireNames.createdMs, 0),
    queuedMs: number(wireNames.queuedMs, 0),
    failureCount: number(wireNames.failureCount, 0),
  };
  for (const name of optionalTexts) {
    const value = own(record, wireNames[name]);
    if (typeof value === "string") envelope[name] = value;
  }
  for (const name of optionalNumbers) {
    const value = own(record, wireNames[name]);
    if (typeof value === "number") envelope[name] = value;
  }
  return envelope;
}

type Decoded = { -readonly [Name in keyof Envelope]: Envelope[Name] };
const optionalTexts = ["retryChannel", "exceptionType", "exceptionMessage"] as const;
const optionalNumbers = ["retryWithin", "firstFailedMs", "lastFailedMs"] as const;

function argumentsFrom(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  if (typeof value === "object" && value !== null && Object.keys(value).length === 0) return [];
  throw new UndecodableEnvelope(`"arguments" must be an array, got ${describe(value)}`);
}

/** A change to a stored envelope: wire names to values; `undefined` removes the field. */
export type Revision = Readonly<Record<string, string | number | undefined>>;

/**
 * The stored text with some top-level fields changed and every other byte left as it was, so that
 * arguments and unknown fields are never re-encoded. Changed fields stand after `queued_ms`'s place in
 * the head where they were there before, otherwise before the closing brace.
 *
 * @throws UndecodableEnvelope when the text is not a JSON object
 */
export function reviseEnvelope(raw: string, revision: Revision): string {
  return revised(raw, revision, (value) => JSON.stringify(value));
}

/**
 * As `reviseEnvelope`, for stored bytes of which some may not be UTF-8: those stay as they are too.
 *
 * @returns text when all of the bytes are valid UTF-8, otherwise bytes
 * @throws UndecodableEnvelope when the bytes are not a JSON object
 */
export function reviseBytes(bytes: Uint8Array, revision: Revision): Uint8Array | string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (isUtf8(bytes)) return reviseEnvelope(buffer.toString("utf8"), revision);
  // One character for each byte, so that no byte changes; what is inserted must be ASCII for that.
  return Buffer.from(revised(buffer.toString("latin1"), revision, asciiJson), "latin1");
}

function revised(raw: string, revision: Revision, json: (value: string | number) => string): string {
  const pending = new Map(Object.entries(revision));
  const { spans, end } = fieldSpans(raw);
  const kept: string[] = [];
  for (const span of spans) {
    if (!pending.has(span.name)) {
      if (!Object.hasOwn(revision, span.name)) kept.push(raw.slice(span.start, span.end));
      continue; // a repeated field of a changed name goes too
    }
    const value = pending.get(span.name);
    pending.delete(span.name);
    if (value !== undefined) kept.push(`${json(span.name)}:${json(value)}`);
  }
  const added = [...pending].flatMap(([name, value]) =>
    value === undefined ? [] : [`${json(name)}:${json(value)}`],
  );
  return `{${insertBeforeArguments(kept, added).join(",")}}${raw.slice(end)}`;
}

/** JSON text of ASCII only. */
function asciiJson(value: string | number): string {
  return JSON.stringify(value).replace(
    /[\u0080-\uffff]/g,
    (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

/** Arguments stay last where they were last: the scripts read only the text before them. */
function insertBeforeArguments(kept: string[], added: string[]): string[] {
  const last = kept.at(-1);
  if (last?.startsWith('"arguments":')) return [...kept.slice(0, -1), ...added, last];
  return [...kept, ...added];
}

function own(record: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}

function describe(value: unknown): string {
  if (value === undefined) return "nothing";
  if (value === null) return "null";
  if (Array.isArray(value)) return "an array";
  return typeof value === "object" ? "an object" : `${typeof value} ${JSON.stringify(value).slice(0, 40)}`;
}
