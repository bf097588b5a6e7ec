import type { Settings } from "../config/settings.ts";
import type { CatalogStore } from "./catalog-store.ts";
import { RedisCatalog } from "./redis/catalog.ts";
import { RedisStore, type RedisStoreOptions } from "./redis/store.ts";
import { RedisTransfer } from "./redis/transfer.ts";
import { SqliteCatalog } from "./sqlite/catalog.ts";
import { SqliteStore, type SqliteStoreOptions } from "./sqlite/store.ts";
import { SqliteTransfer } from "./sqlite/transfer.ts";
import type { Store } from "./store.ts";
import type { TransferStore } from "./transfer-store.ts";

/** The store that a URL names, not yet opened. */
export function storeFor(settings: Settings): Store {
  return isEmbedded(settings)
    ? new SqliteStore(sqliteOptions(settings))
    : new RedisStore(redisOptions(settings));
}

/** Inspection and administration of the store that a URL names. It connects at its first call. */
export function catalogStoreFor(settings: Settings): CatalogStore {
  return isEmbedded(settings)
    ? new SqliteCatalog(sqliteOptions(settings))
    : new RedisCatalog(redisOptions(settings));
}

/** The way in and out of the store that a URL names. It connects at its first call. */
export function transferStoreFor(settings: Settings): TransferStore {
  return isEmbedded(settings)
    ? new SqliteTransfer(sqliteOptions(settings))
    : new RedisTransfer(redisOptions(settings));
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
  };
}
