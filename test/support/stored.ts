import type { RedisClient } from "bun";
import { encodeEnvelope } from "../../src/envelope/codec.ts";

/** An envelope as this library stores it. */
export function ownEnvelope(
  id: string,
  channel = "default",
  fields: { argumentsJson?: string; nowMs?: number } = {},
) {
  const { argumentsJson = "[1]", nowMs = 1_700_000_000_000 } = fields;
  return encodeEnvelope({ id, channel, task: "Count", argumentsJson, maxFailures: 25, nowMs });
}

/** An envelope as the Ruby member stores it. */
export function rubyEnvelope(id: string, channel = "default", fields: Record<string, unknown> = {}): string {
  return JSON.stringify({
    id,
    task: "Count",
    arguments: [1],
    channel,
    max_failures: 25,
    created_ms: 1_700_000_000_000,
    queued_ms: 1_700_000_000_000,
    ...fields,
  });
}

/** `before`, three bytes that are not UTF-8, `after`. */
export function notUtf8(before: string, after: string): Uint8Array {
  return Buffer.concat([Buffer.from(before), Buffer.from([0xff, 0xfe, 0xc0]), Buffer.from(after)]);
}

export function sha1(bytes: string | Uint8Array): string {
  return new Bun.CryptoHasher("sha1").update(bytes).digest("hex");
}

/** SHA-1 of each element of a list from the left, computed by the server: replies do not carry bytes exactly. */
export function listDigests(client: RedisClient, key: string): Promise<string[]> {
  return digests(client, "redis.call('LRANGE', KEYS[1], 0, -1)", key);
}

/** SHA-1 of each member of a sorted set in its order. */
export function setDigests(client: RedisClient, key: string): Promise<string[]> {
  return digests(client, "redis.call('ZRANGE', KEYS[1], 0, -1)", key);
}

async function digests(client: RedisClient, expression: string, key: string): Promise<string[]> {
  const script = `local all = {} for i, m in ipairs(${expression}) do all[i] = redis.sha1hex(m) end return all`;
  return (await client.send("EVAL", [script, "1", key])) as string[];
}

/** Sends a command with raw bytes among its arguments. */
export function sendBytes(client: RedisClient, command: string, ...args: (string | number | Uint8Array)[]) {
  return client.send(command, args as string[]);
}
