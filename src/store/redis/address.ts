import { ConfigurationError } from "../../foundation/errors.ts";

/** Where a Redis is and how to get in. */
export interface RedisAddress {
  /** As Bun's client takes it. */
  readonly url: string;
  /** For logs and messages: without user and password. */
  readonly display: string;
  readonly tls: { readonly ca: string } | undefined;
}

const schemes = [
  "redis",
  "rediss",
  "valkey",
  "valkeys",
  "redis+unix",
  "redis+tls",
  "redis+tls+unix",
  "valkey+unix",
];

/**
 * @param tlsCa PEM text, or the path of a file with it
 * @throws ConfigurationError for a scheme this engine does not know, or an unreadable certificate
 */
export function redisAddress(url: string, tlsCa?: string): RedisAddress {
  const scheme = /^([a-z+]+):\/\//i.exec(url)?.[1]?.toLowerCase();
  if (scheme === undefined || !schemes.includes(scheme)) {
    throw new ConfigurationError(
      `the store URL must begin with one of ${schemes.map((s) => `${s}://`).join(" ")}, got "${withoutCredentials(url)}"`,
    );
  }
  return { url, display: withoutCredentials(url), tls: tlsCa === undefined ? undefined : { ca: pem(tlsCa) } };
}

/** A password may hold an unescaped "/": then everything up to the last "@" goes. */
export function withoutCredentials(url: string): string {
  const [scheme = ""] = /^[a-z+]*:\/\//i.exec(url) ?? [];
  const rest = url.slice(scheme.length);
  if (rest.startsWith("/")) return url; // the path of a socket
  return scheme + rest.replace(scheme.toLowerCase().includes("unix") ? /^[^/]*@/ : /^.*@/s, "");
}

function pem(textOrPath: string): string {
  if (textOrPath.includes("-----BEGIN")) return textOrPath;
  const { existsSync, readFileSync } = require("node:fs") as typeof import("node:fs"); // few connections name a file
  if (!existsSync(textOrPath)) {
    throw new ConfigurationError(
      `tls_ca must be PEM text or the path of a PEM file, got "${textOrPath}", which does not exist`,
    );
  }
  return readFileSync(textOrPath, "utf8");
}
