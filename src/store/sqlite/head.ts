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

/** The text with a new `queued_ms`, where it is one of our own layout; else as it is. */
export function requeuedText(payload: string, nowMs: number): string {
  return payload.replace(queuedMs, `$1${nowMs}`);
}

/** Looked for before the arguments only, which stand last. */
export function failureCountOf(payload: string): number {
  const end = payload.indexOf('"arguments":');
  const found = /"failure_count":(\d+)/.exec(end === -1 ? payload : payload.slice(0, end));
  return found === null ? 0 : Number(found[1]);
}

export function textOf(payload: string | Uint8Array): string {
  return typeof payload === "string" ? payload : new TextDecoder().decode(payload);
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
