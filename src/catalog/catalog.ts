import type { GivenSettings } from "../config/given.ts";
import { processSettings } from "../config/process.ts";
import type {
  CatalogStore,
  ChannelView,
  ClaimView,
  ExecutionView,
  NodeView,
  StoredCounters,
} from "../store/catalog-store.ts";
import { catalogStoreFor } from "../store/open.ts";
import type { NodeSignal } from "../store/store.ts";
import { type BulkOptions, type PurgeResult, purge } from "./bulk.ts";
import { CatalogSet } from "./catalog-set.ts";
import { type CatalogEntry, catalogEntry } from "./entry.ts";
import type { IntegrityReport } from "./integrity-report.ts";
import type { IntegrityOptions } from "./integrity-run.ts";
import { type JobLocation, locate } from "./locate.ts";
import { itemsOf } from "./pages.ts";

export interface Counters extends StoredCounters {
  /** Jobs waiting in all channels. */
  readonly ready: number;
}

export interface WalkControl {
  /** Ends an iteration between two pages with its reason. */
  readonly signal?: AbortSignal;
}

// Loaded when they are asked for: every thread that imports the library names this class.
const resolving = () => require("../config/resolve.ts") as typeof import("../config/resolve.ts");
const integrity = () => require("./integrity-run.ts") as typeof import("./integrity-run.ts");

/**
 * Inspection and administration of a store: what is in it, and what an operator may do with it. It works
 * whether or not nodes run, reads what is large in pages and changes it in bounded steps.
 *
 * The first call connects; `close()` ends the connection. Methods throw `StoreUnavailable` when the store
 * does not answer, and `StoreError` where something of the wrong kind stands in its place.
 */
export class Catalog {
  /** Jobs waiting for their time. */
  readonly planned: CatalogSet;
  /** Failed jobs waiting for their next try. */
  readonly retrying: CatalogSet;
  /** The archive of jobs that failed for good. */
  readonly discarded: CatalogSet;
  private readonly store: CatalogStore;

  /**
   * @param settings default: those of this process, see `configure`
   * @param store instead of the one that the settings name
   * @throws ConfigurationError when this process's settings cannot be used
   */
  constructor(settings?: GivenSettings, store?: CatalogStore) {
    this.store =
      store ??
      catalogStoreFor(
        settings === undefined ? processSettings() : resolving().settingsFrom({ given: settings }),
      );
    this.planned = new CatalogSet(this.store, "planned");
    this.retrying = new CatalogSet(this.store, "retrying");
    this.discarded = new CatalogSet(this.store, "discarded");
  }

  /** Where the store is, without credentials. */
  get address(): string {
    return this.store.address;
  }

  /** What was done, and how much is where. */
  async counters(): Promise<Counters> {
    const counters = await this.store.counters();
    const sizes = new Map<string, number>();
    for await (const { name, size } of this.channels()) sizes.set(name, size);
    return { ...counters, ready: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
  }

  /** Every channel that is known or paused, in no order. */
  async *channels(control: WalkControl = {}): AsyncGenerator<ChannelView> {
    const seen = new Set<string>();
    for await (const channel of itemsOf((cursor) => this.store.channels(cursor), control.signal)) {
      if (seen.has(channel.name)) continue;
      seen.add(channel.name);
      yield channel;
    }
  }

  /** No node reserves from this channel until `resume`. True when it was not paused before. */
  pause(channel: string): Promise<boolean> {
    return this.store.pause(channel);
  }

  /** True when the channel was paused before. */
  resume(channel: string): Promise<boolean> {
    return this.store.resume(channel);
  }

  /** Takes away for good all jobs that wait in a channel. */
  purge(channel: string, options: BulkOptions = {}): Promise<PurgeResult> {
    return purge(this.store, { state: "ready", channel }, options);
  }

  /** The jobs that wait in a channel, the newest first. */
  async *jobs(channel: string, control: WalkControl = {}): AsyncGenerator<CatalogEntry> {
    const place = { state: "ready", channel } as const;
    const read = (cursor: string | undefined) => this.store.entries(place, { cursor });
    for await (const entry of itemsOf(read, control.signal)) yield catalogEntry(entry);
  }

  /** The known nodes, live or not. */
  nodes(control: WalkControl = {}): AsyncGenerator<NodeView> {
    return itemsOf((cursor) => this.store.nodes(cursor), control.signal);
  }

  /**
   * Asks a node to take no more jobs (`TSTP`), to stop (`TERM`) or to print what it does (`TTIN`). It obeys
   * at its next heartbeat; a request that nobody takes expires after a minute. False: no such node.
   */
  signal(identity: string, signal: NodeSignal): Promise<boolean> {
    return this.store.signal(identity, signal);
  }

  /** The jobs that a node's workers hold; without an identity those of all known nodes. */
  async *claims(identity?: string, control: WalkControl = {}): AsyncGenerator<ClaimView> {
    for await (const node of this.identities(identity, control)) {
      yield* itemsOf((cursor) => this.store.claims(node, cursor), control.signal);
    }
  }

  /** What a node's workers say that they run; without an identity those of all known nodes. */
  async *executions(identity?: string, control: WalkControl = {}): AsyncGenerator<ExecutionView> {
    for await (const node of this.identities(identity, control)) {
      yield* itemsOf((cursor) => this.store.executions(node, cursor), control.signal);
    }
  }

  /**
   * Where a job is: ready, planned, retrying, discarded or claimed. Undefined: it was acked or dropped, or
   * never published. Reads everything in pages until it is found.
   */
  locate(id: string, control: WalkControl = {}): Promise<JobLocation | undefined> {
    return locate(this.store, id, control.signal);
  }

  /** See `integrityCheck`. */
  integrityCheck(options: IntegrityOptions = {}): Promise<IntegrityReport> {
    return integrity().checkIntegrity(this.store, options);
  }

  /** Ends the connection. May be called twice. */
  close(): Promise<void> {
    return this.store.close();
  }

  private async *identities(identity: string | undefined, control: WalkControl): AsyncGenerator<string> {
    if (identity !== undefined) {
      yield identity;
      return;
    }
    const seen = new Set<string>();
    for await (const node of this.nodes(control)) {
      if (!seen.has(node.identity)) yield node.identity;
      seen.add(node.identity);
    }
  }
}
