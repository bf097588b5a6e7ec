import { SolidJobsError, StoreUnavailable, StoreUnsuitable, toError } from "../foundation/errors.ts";
import { RefusedRequest } from "./request.ts";

/** What a client is told of an error. */
export interface WireError {
  readonly class: string;
  readonly message: string;
}

/** The line for one command's reply, with its line feed. */
export function answerLine(reply: unknown): string {
  return reply instanceof Error ? errorLine(reply) : `{"status":"OK","data":${jsonOf(reply)}}\n`;
}

/** The line for a request that failed as a whole. */
export function errorLine(thrown: unknown): string {
  return `{"status":"ERROR","error":${JSON.stringify(wireError(thrown))}}\n`;
}

/**
 * The line for a pipeline. One with a failure is an ERROR, whose `error` is the first one, so that a client
 * that looks at the status alone does not take it for done; `data` tells of each command what came of it.
 */
export function pipelineLine(replies: readonly unknown[]): string {
  const failure = replies.find((reply) => reply instanceof Error);
  if (failure === undefined) return answerLine(replies);
  return `{"status":"ERROR","error":${JSON.stringify(wireError(failure))},"data":${jsonOf(replies)}}\n`;
}

/**
 * Classes bear the names that the Ruby sidecar's Redis client gives them: the field's name in a client that was
 * written for it. A reply of Redis keeps its text, which programs look at (`NOSCRIPT ...`).
 */
export function wireError(thrown: unknown): WireError {
  const error = toError(thrown);
  const redis = redisText(error);
  if (redis !== undefined) return { class: "SolidRedis::CommandError", message: redis };
  if (error instanceof RefusedRequest) {
    const name = error.code === "BAD_JSON" ? "JSON::ParserError" : "ArgumentError";
    return { class: name, message: error.message };
  }
  if (error instanceof StoreUnsuitable && error.code === "AUTHENTICATION") {
    return { class: "SolidRedis::AuthenticationError", message: error.message };
  }
  if (error instanceof StoreUnavailable && error.isSent) {
    return {
      class: "SolidRedis::ConnectionError",
      message: `${error.message}; whether the command ran is not known`,
    };
  }
  const name = error instanceof SolidJobsError ? "SolidRedis::ConnectionError" : "SolidRedis::Error";
  return { class: name, message: error.message };
}

/** The text of an error that Redis answered with, also where the store's errors stand around it. */
function redisText(error: Error): string | undefined {
  for (const each of [error, error.cause]) {
    const { code, message } = (each ?? {}) as { code?: unknown; message?: unknown };
    if (code === "ERR_REDIS_SERVER_ERROR" || code === "ERR_REDIS_INVALID_COMMAND") return String(message);
  }
  return undefined;
}

/** JSON of a reply: what JSON has no number for becomes the text that Redis writes, large integers stay exact. */
export function jsonOf(value: unknown): string {
  if (value === null || value === undefined) return "null";
  if (typeof value === "bigint") return value.toString();
  if (typeof value === "number") return Number.isFinite(value) ? JSON.stringify(value) : notFinite(value);
  if (typeof value !== "object") return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(jsonOf).join(",")}]`;
  if (value instanceof Error) return `{"error":${JSON.stringify(wireError(value))}}`;
  const pairs = Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}:${jsonOf(item)}`);
  return `{${pairs.join(",")}}`;
}

function notFinite(value: number): string {
  if (Number.isNaN(value)) return '"nan"';
  return value > 0 ? '"inf"' : '"-inf"';
}
