import { isUtf8 } from "node:buffer";
import { randomHex } from "../foundation/ids.ts";
import { publicationField } from "./envelope.ts";

/**
 * A valid envelope around bytes that are none, for the archive. The bytes stand in `raw`: as text, or,
 * where they are not UTF-8, with each byte as the code point of its value (`raw_encoding: "latin1"`).
 */
export function undecodableEnvelope(
  bytes: Uint8Array,
  { channel, error, nowMs }: { channel: string; error: Error; nowMs: number },
): string {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const encoding = isUtf8(bytes) ? "text" : "latin1";
  const record = {
    id: `undecodable-${randomHex(8)}`,
    channel,
    [publicationField]: "-",
    queued_ms: nowMs,
    task: "undecodable",
    max_failures: 0,
    created_ms: nowMs,
    failure_count: 1,
    exception_type: error.name,
    exception_message: error.message.slice(0, 300),
    first_failed_ms: nowMs,
    last_failed_ms: nowMs,
    raw: buffer.toString(encoding === "text" ? "utf8" : "latin1"),
    raw_encoding: encoding,
    arguments: [],
  };
  return JSON.stringify(record);
}
