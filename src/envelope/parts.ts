import { publicationField } from "./envelope.ts";

/** What the envelopes of one task in one channel have in common, published alike: the text between what differs. */
export interface EnvelopeShape {
  readonly afterId: string;
  readonly afterQueued: string;
  readonly afterCreated: string;
  /** It names a publication barrier, which is another one each time. */
  readonly isBarred: boolean;
  /** Of the whole text but for id, times and arguments. */
  readonly bytes: number;
}

/** A new envelope as its shape and what is its own. */
export interface EnvelopeParts {
  readonly shape: EnvelopeShape;
  /** As JSON text, without its quotes. */
  readonly idText: string;
  /** Epoch milliseconds: it is made and queued at the same time. */
  readonly nowMs: number;
  /** The JSON text of the arguments, used as it is. */
  readonly argumentsJson: string;
}

/** What a shape is made of. */
export interface ShapeFields {
  readonly task: string;
  readonly channel: string;
  readonly maxFailures: number;
  readonly retryWithin?: number | undefined;
  readonly retryChannel?: string | undefined;
  /** The publication barrier, when the publisher has one. */
  readonly barrier?: string | undefined;
}

const beforeId = '{"id":"';
const end = "}";

/**
 * The shape of the envelopes with these fields. The order matters: the scripts read the first fields by
 * position and leave the arguments, which stand last, alone.
 */
export function envelopeShape(fields: ShapeFields): EnvelopeShape {
  const { task, channel, maxFailures, retryWithin, retryChannel, barrier } = fields;
  const within = retryWithin === undefined ? "" : `,"retry_within":${retryWithin}`;
  const other = retryChannel === undefined ? "" : `,"retry_channel":${JSON.stringify(retryChannel)}`;
  const afterId = `","channel":${JSON.stringify(channel)},"${publicationField}":"${barrier ?? "-"}","queued_ms":`;
  const afterQueued = `,"task":${JSON.stringify(task)},"max_failures":${maxFailures},"created_ms":`;
  const afterCreated = `${within}${other},"arguments":`;
  const fixed = beforeId + afterId + afterQueued + afterCreated + end;
  const isBarred = barrier !== undefined;
  return { afterId, afterQueued, afterCreated, isBarred, bytes: Buffer.byteLength(fixed) };
}

/** The stored text of an envelope. */
export function envelopeText({ shape, idText, nowMs, argumentsJson }: EnvelopeParts): string {
  const { afterId, afterQueued, afterCreated } = shape;
  return `${beforeId}${idText}${afterId}${nowMs}${afterQueued}${nowMs}${afterCreated}${argumentsJson}${end}`;
}

/** The size of an envelope's text. */
export function envelopeBytes({ shape, idText, nowMs, argumentsJson }: EnvelopeParts): number {
  const times = 2 * String(nowMs).length;
  return shape.bytes + times + Buffer.byteLength(idText) + Buffer.byteLength(argumentsJson);
}

/** An id as it stands between the quotes of its JSON text. */
export function idTextOf(id: string): string {
  return /^[\w-]+$/.test(id) ? id : JSON.stringify(id).slice(1, -1);
}
