import { RedisClient } from "bun";
import { encodeEnvelope } from "../../../src/envelope/codec.ts";
import type { CatalogStore } from "../../../src/store/catalog-store.ts";
import { ownProof } from "../../../src/store/liveness.ts";
import { RedisCatalog } from "../../../src/store/redis/catalog.ts";
import { RedisStore } from "../../../src/store/redis/store.ts";
import { RedisTransfer } from "../../../src/store/redis/transfer.ts";
import { SqliteCatalog } from "../../../src/store/sqlite/catalog.ts";
import { SqliteStore } from "../../../src/store/sqlite/store.ts";
import { SqliteTransfer } from "../../../src/store/sqlite/transfer.ts";
import type { NodeRecord, Publication, Store } from "../../../src/store/store.ts";
import type { TransferStore } from "../../../src/store/transfer-store.ts";
import { redisState, type StoredState, sqliteState } from "../../support/stored-state.ts";
import type { Ledger } from "./ledger.ts";

export type EngineName = "redis" | "sqlite";

/** Where one set of jobs is kept; text, so that another process opens it too. */
export interface Address {
  readonly engine: EngineName;
  /** Redis's URL, or the path of the file. */
  readonly location: string;
  /** Of the keys; SQLite has none. */
  readonly prefix: string;
}

/** One process's way to what is kept at an address. Nothing is opened before it is used. */
export interface Place {
  readonly address: Address;
  readonly store: Store;
  readonly catalog: CatalogStore;
  readonly transfer: TransferStore;
}

/** What the steps of a scenario happen in, the same for the process that dies and for those that do not. */
export interface Scene {
  readonly main: Place;
  /** Where jobs are moved to; the same as `main` in scenarios that move none. */
  readonly other: Place;
  readonly ledger: Ledger;
}

/** @param more `maxCrashes` is the setting of that name; its default is the stores' own */
export function openPlace(address: Address, more: { maxCrashes?: number } = {}): Place {
  const { engine, location, prefix } = address;
  const limits = { discardedLimit: 10_000, discardedRetention: 180, ...more };
  if (engine === "sqlite") {
    const options = { path: location, synchronous: "normal", ...limits } as const;
    const [store, catalog, transfer] = [
      new SqliteStore(options),
      new SqliteCatalog(options),
      new SqliteTransfer(options),
    ];
    return { address, store, catalog, transfer };
  }
  const options = { url: location, prefix, allowEviction: false, ...limits };
  const [store, catalog, transfer] = [
    new RedisStore(options),
    new RedisCatalog(options),
    new RedisTransfer(options),
  ];
  return { address, store, catalog, transfer };
}

export async function closePlace({ store, catalog, transfer }: Place): Promise<void> {
  await Promise.all([store.close(), catalog.close(), transfer.close()]);
}

export async function stateAt({ engine, location, prefix }: Address): Promise<StoredState> {
  if (engine === "sqlite") return sqliteState(location);
  const client = new RedisClient(location);
  try {
    return await redisState(client, prefix);
  } finally {
    client.close();
  }
}

export function job(
  id: string,
  fields: Partial<Publication> & { readonly barrier?: string } = {},
): Publication {
  const { channel = "default", barrier, ...rest } = fields;
  const envelope = {
    id,
    task: "Task",
    channel,
    argumentsJson: "[1]",
    maxFailures: 25,
    nowMs: 1_700_000_000_000,
  };
  return { id, channel, payload: encodeEnvelope({ ...envelope, barrier }), ...rest };
}

/** A node of this process, with true proof of its life; `isDead`: with proof of its death. */
export function nodeRecord(identity: string, { isDead = false } = {}): NodeRecord {
  const { pidStarted, ...proof } = ownProof();
  return {
    identity,
    hostname: "host",
    startedAt: 1_700_000_000,
    channels: ["default"],
    labels: [],
    concurrency: 1,
    ttl: 15,
    ...proof,
    pidStarted: isDead ? "1" : pidStarted,
  };
}
