import { resolve } from "node:path";
import { invalid, type Place, type Reading, type Rule, shown, valid } from "./reading.ts";

const networkSchemes = ["redis:", "rediss:", "valkey:", "valkeys:"];
const socketSchemes = ["redis+unix:", "redis+tls+unix:"];
const redisForms = "redis://, rediss://, valkey://, valkeys://, redis+unix:// or redis+tls+unix://";

/** A URL of any store. That of an embedded one becomes `sqlite:` and an absolute path. */
export function storeUrlRule(): Rule<string> {
  const expected = `a URL that begins with ${redisForms.replace(" or ", ", ")} or sqlite:`;
  const read = (value: unknown, place: Place): Reading<string> =>
    typeof value === "string" && /^sqlite:/i.test(value.trim())
      ? readSqliteUrl(value.trim(), place)
      : readRedisUrl(value, expected);
  return { expected, read, fromText: read };
}

/** A URL of Redis or a server that speaks its protocol. */
export function redisUrlRule(): Rule<string> {
  const expected = `a URL that begins with ${redisForms}`;
  const read = (value: unknown): Reading<string> => readRedisUrl(value, expected);
  return { expected, read, fromText: read };
}

/** `url` for messages and logs: the password is replaced by `***`. */
export function withoutPassword(url: string): string {
  return url.replace(/^([a-z+]+:\/\/[^:@/?#]*):.*@/i, "$1:***@");
}

function readRedisUrl(value: unknown, expected: string): Reading<string> {
  const got = typeof value === "string" ? shown(withoutPassword(value)) : shown(value);
  const text = typeof value === "string" ? value.trim() : "";
  const scheme = /^([a-z+]+:)\/\//i.exec(text)?.[1]?.toLowerCase() ?? "";
  const isSocket = socketSchemes.includes(scheme);
  if (!isSocket && !networkSchemes.includes(scheme)) return invalid(`expected ${expected}, got ${got}`);
  const url = URL.parse(text);
  if (url === null) return invalid(`expected ${expected} with a valid host and port, got ${got}`);
  if (isSocket) {
    return url.pathname.length > 1 ? valid(text) : invalid(`expected the path of a socket, got ${got}`);
  }
  if (url.hostname === "") return invalid(`expected a host in the URL, got ${got}`);
  if (!/^(\/\d*)?$/.test(url.pathname)) {
    return invalid(`expected a database index such as /0 at the end of the URL, got ${got}`);
  }
  return valid(text);
}

/** The path follows the scheme as it is: `sqlite:jobs.sqlite` is relative, `sqlite:///srv/jobs.sqlite` absolute. */
function readSqliteUrl(text: string, place: Place): Reading<string> {
  const path = text.slice("sqlite:".length).replace(/^\/\//, "");
  if (path === "" || path.includes("\0")) {
    return invalid(`expected a path after sqlite:, such as sqlite:./jobs.sqlite, got ${shown(text)}`);
  }
  if (path === ":memory:") {
    return invalid("expected a file after sqlite:, got :memory:, which a node's threads could not share");
  }
  return valid(`sqlite:${resolve(place.folder, path)}`);
}
