/** A job id: UUID version 7, so that ids sort by the time they were made. */
export function newJobId(): string {
  return Bun.randomUUIDv7();
}

/** `bytes` random bytes as lower-case hexadecimal. */
export function randomHex(bytes: number): string {
  return Buffer.from(crypto.getRandomValues(new Uint8Array(bytes))).toString("hex");
}

/**
 * The identity of a node: `<host>~bun:<pid>:<12 hex>`. The host keeps letters, digits, `.` and `-`; the
 * `~bun` tells the Ruby member that this is not its own host, so that it judges the node by its beat.
 * The random incarnation makes every start a new identity.
 */
export function newNodeIdentity(host: string = ownHost(), pid: number = process.pid): string {
  const cleanHost = host.replace(/[^A-Za-z0-9.-]/g, "-");
  return `${cleanHost}~bun:${pid}:${randomHex(6)}`;
}

/** `node:os` is loaded here only: the threads of a node need no identity. */
function ownHost(): string {
  const { hostname } = require("node:os") as typeof import("node:os");
  return hostname();
}
