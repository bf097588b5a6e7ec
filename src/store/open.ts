import type { Settings } from "../config/settings.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import type { CatalogStore } from "./catalog-store.ts";
import { RedisCatalog } from "./redis/catalog.ts";
import { RedisStore, type RedisStoreOptions } from "./redis/store.ts";
import { SqliteCatalog } from "./sqlite/catalog.ts";
import { SqliteStore, type SqliteStoreOptions } from "./sqlite/store.ts";
import type { Store } from "./store.ts";

/**
 * The store that a URL names, not yet opened.
 *
 * @throws ConfigurationError for a missing URL or an unknown scheme
 */
export function storeFor(settings: Settings): Store {
  return isEmbedded(settings)
    ? new SqliteStore(sqliteOptions(settings))
    : new RedisStore(redisOptions(settings));
}

/**
 * Inspection and administration of the store that a URL names. It connects at its first call.
 *
 * @throws ConfigurationError for a missing URL or an unknown scheme
 */
export function catalogStoreFor(settings: Settings): CatalogStore {
  return isEmbedded(settings)
    ? new SqliteCatalog(sqliteOptions(settings))
    : new RedisCatalog(redisOptions(settings));
}

function isEmbedded({ url }: Settings): boolean {
  return url?.startsWith("sqlite:") ?? false;
}

/** What the embedded engine takes from the settings. */
export function sqliteOptions(settings: Settings): SqliteStoreOptions {
  return {
    path: settings.url?.slice("sqlite:".length) ?? "",
    synchronous: settings.synchronous,
    discardedLimit: settings.discardedLimit,
    discardedRetention: settings.discardedRetention,
  };
}

/** What the Redis engine takes from the settings. */
export function redisOptions(settings: Settings): RedisStoreOptions {
  if (settings.url === undefined) {
    throw new ConfigurationError(
      "no store: expected a URL such as redis://localhost:6379 in --url, SOLID_JOBS_URL, the file's url or REDIS_URL, got none",
    );
  }
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
