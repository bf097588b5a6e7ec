import type { Settings } from "../config/settings.ts";
import type { CatalogStore } from "./catalog-store.ts";
import type { RedisStoreOptions } from "./redis/store.ts";
import type { SqliteStoreOptions } from "./sqlite/store.ts";
import type { Store } from "./store.ts";
import type { TransferStore } from "./transfer-store.ts";

// Engines are loaded when they are asked for: every thread of a node pays over a MiB for those it does not use.

/**
 * The store that a URL names, not yet opened. `writesAtOnce`: for callers that send one command at a time and
 * compute while it is under way.
 */
export function storeFor(settings: Settings, { writesAtOnce = false } = {}): Store {
  if (isEmbedded(settings)) {
    const { SqliteStore } = require("./sqlite/store.ts") as typeof import("./sqlite/store.ts");
    return new SqliteStore(sqliteOptions(settings));
  }
  const { RedisStore } = require("./redis/store.ts") as typeof import("./redis/store.ts");
  return new RedisStore({ ...redisOptions(settings), writesAtOnce });
}

/** Inspection and administration of the store that a URL names. It connects at its first call. */
export function catalogStoreFor(settings: Settings): CatalogStore {
  if (isEmbedded(settings)) {
    const { SqliteCatalog } = require("./sqlite/catalog.ts") as typeof import("./sqlite/catalog.ts");
    return new SqliteCatalog(sqliteOptions(settings));
  }
  const { RedisCatalog } = require("./redis/catalog.ts") as typeof import("./redis/catalog.ts");
  return new RedisCatalog(redisOptions(settings));
}

/** The way in and out of the store that a URL names. It connects at its first call. */
export function transferStoreFor(settings: Settings): TransferStore {
  if (isEmbedded(settings)) {
    const { SqliteTransfer } = require("./sqlite/transfer.ts") as typeof import("./sqlite/transfer.ts");
    return new SqliteTransfer(sqliteOptions(settings));
  }
  const { RedisTransfer } = require("./redis/transfer.ts") as typeof import("./redis/transfer.ts");
  return new RedisTransfer(redisOptions(settings));
}

function isEmbedded({ url }: Settings): boolean {
  return url.startsWith("sqlite:");
}

/** What the embedded engine takes from the settings. */
export function sqliteOptions(settings: Settings): SqliteStoreOptions {
  return {
    path: settings.url.slice("sqlite:".length),
    synchronous: settings.synchronous,
    discardedLimit: settings.discardedLimit,
    discardedRetention: settings.discardedRetention,
    maxCrashes: settings.maxCrashes,
  };
}

/** What the Redis engine takes from the settings. */
export function redisOptions(settings: Settings): RedisStoreOptions {
  return {
    url: settings.url,
    prefix: settings.prefix,
    tlsCa: settings.tlsCa,
    allowEviction: settings.allowEviction,
    discardedLimit: settings.discardedLimit,
    discardedRetention: settings.discardedRetention,
    publishDeadlineMs: settings.publishDeadline * 1000,
    maxCrashes: settings.maxCrashes,
  };
}
