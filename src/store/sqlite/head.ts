import { UndecodableEnvelope } from "../../foundation/errors.ts";

/** What the store needs of a payload: the fields that our own envelopes have at their beginning. */
export interface Head {
  readonly id: string;
  readonly channel: string;
  readonly barrier: string | undefined;
  readonly failureCount: number;
}

const ownHead =
  /^\{"id":"([^"\\]+)","channel":"([^"\\]+)","_solid_jobs_publication":"([^"\\]*)","queued_ms":\d+/;
const queuedMs =
  /^(\{"id":"[^"\\]+","channel":"[^"\\]+","_solid_jobs_publication":"[^"\\]*","queued_ms":)\d+/;

/** @throws UndecodableEnvelope when it is no envelope */
export function headOf(payload: string): Head {
  const match = ownHead.exec(payload);
  if (match !== null) {
    const [, id = "", channel = "", barrier = ""] = match;
    return { id, channel, barrier: barrierFrom(barrier), failureCount: failureCountOf(payload) };
  }
  return decodedHead(payload);
}

const decoder = new TextDecoder("utf-8", { ignoreBOM: true });

/** The text with a new `queued_ms`, where it is one of our own layout; else as it is. */
export function requeuedText(payload: string, nowMs: number): string {
  return payload.replace(queuedMs, (_, before: string) => `${before}${nowMs}`);
}

/** As `requeuedText`, also for bytes that are not UTF-8: none of them changes. */
export function requeued(payload: string | Uint8Array, nowMs: number): string | Uint8Array {
  if (typeof payload === "string") return requeuedText(payload, nowMs);
  const bytes = Buffer.from(payload.buffer, payload.byteOffset, payload.byteLength);
  return Buffer.from(requeuedText(bytes.toString("latin1"), nowMs), "latin1");
}

/** The channel a payload names now, or undefined where it cannot be read. */
export function channelIn(payload: string | Uint8Array): string | undefined {
  try {
    return headOf(textOf(payload)).channel;
  } catch {
    return undefined; // whoever runs it archives it with its bytes
  }
}

export function byteLength(payload: string | Uint8Array): number {
  return typeof payload === "string" ? Buffer.byteLength(payload) : payload.byteLength;
}

/** Looked for before the arguments only, which stand last. */
export function failureCountOf(payload: string): number {
  const end = payload.indexOf('"arguments":');
  const found = /"failure_count":(\d+)/.exec(end === -1 ? payload : payload.slice(0, end));
  return found === null ? 0 : Number(found[1]);
}

export function textOf(payload: string | Uint8Array): string {
  return typeof payload === "string" ? payload : decoder.decode(payload);
}

function decodedHead(payload: string): Head {
  let record: Record<string, unknown>;
  try {
    record = JSON.parse(payload) as Record<string, unknown>;
  } catch (error) {
    throw new UndecodableEnvelope("not JSON", { cause: error });
  }
  const { id, channel, _solid_jobs_publication: barrier, failure_count: failures } = record ?? {};
  if (typeof id !== "string" || typeof channel !== "string" || id === "" || channel === "") {
    throw new UndecodableEnvelope("an envelope needs id and channel");
  }
  return {
    id,
    channel,
    barrier: typeof barrier === "string" ? barrierFrom(barrier) : undefined,
    failureCount: typeof failures === "number" ? failures : 0,
  };
}

function barrierFrom(text: string): string | undefined {
  return text === "-" || text === "" ? undefined : text;
}
