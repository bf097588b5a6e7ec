import { StoreUnsuitable } from "../../foundation/errors.ts";
import type { RedisConnection } from "./connection.ts";
import { clusterError, tooOldError } from "./server-errors.ts";

/**
 * Whether this server can be trusted with jobs: Redis 6.2 or later, not in Cluster mode, and no policy
 * that evicts jobs when memory runs out. Read from HELLO and INFO, since CONFIG is often forbidden.
 *
 * @returns what the operator should know
 * @throws StoreUnsuitable
 */
export async function checkServer(
  connection: RedisConnection,
  { address, allowEviction }: { address: string; allowEviction: boolean },
): Promise<string[]> {
  const info = await serverInfo(connection);
  const version = connection.facts?.version ?? "";
  const [major = 0, minor = 0] = version.split(".").map(Number);
  if (major < 6 || (major === 6 && minor < 2)) {
    throw tooOldError(address, version || "of an unknown version");
  }
  if (connection.facts?.mode === "cluster" || /^cluster_enabled:1/m.test(info ?? ""))
    throw clusterError(address);
  if (info === undefined) {
    return ["this user may not use INFO: the eviction policy is unknown; make sure that it is noeviction"];
  }
  return evictionWarnings(/^maxmemory_policy:(\S+)/m.exec(info)?.[1] ?? "", { address, allowEviction });
}

function evictionWarnings(
  policy: string,
  { address, allowEviction }: { address: string; allowEviction: boolean },
): string[] {
  if (policy.startsWith("allkeys-")) {
    if (!allowEviction) {
      throw new StoreUnsuitable(
        "EVICTION_POLICY",
        `${address} has maxmemory-policy ${policy}: it would delete jobs when memory runs out; set it to noeviction, or accept the loss with allow_eviction = true`,
      );
    }
    return [`maxmemory-policy ${policy}: jobs are lost when memory runs out`];
  }
  if (policy.startsWith("volatile-")) {
    return [
      `maxmemory-policy ${policy}: barriers and crash counts may be evicted; noeviction is the safe choice`,
    ];
  }
  return [];
}

async function serverInfo(connection: RedisConnection): Promise<string | undefined> {
  try {
    return String(await connection.call("INFO", []));
  } catch (error) {
    if (/NOPERM/.test(String(error))) return undefined;
    throw error;
  }
}
