import type { NodeSignal } from "./store.ts";

/**
 * The contract of inspection and administration, apart from `Store` because no running node needs it.
 *
 * Every change is atomic. Every call is bounded (at most 100 entries and about 1 MiB, but always one
 * entry), so what may be large is read in pages and changed in steps: the loops are the caller's. Pages
 * are read while jobs move. An entry that moves between two calls may be met twice or not at all; one
 * that stays is always met. An empty page is not the end: an undefined cursor is.
 *
 * All methods throw `StoreUnavailable` when the store does not answer, and `StoreError`, which names what
 * was found, where something of the wrong kind stands in the place of theirs.
 */
export interface CatalogStore {
  /** Where the store is, without credentials. */
  readonly address: string;
  /** Ends the connection. May be called twice. */
  close(): Promise<void>;

  counters(): Promise<StoredCounters>;

  /** The known channels and the paused ones. A name may be met twice. */
  channels(cursor?: string): Promise<Page<ChannelView>>;
  /** True when it was not paused before. */
  pause(channel: string): Promise<boolean>;
  /** True when it was paused before. */
  resume(channel: string): Promise<boolean>;

  /** A channel from its newest entry, a set from its earliest time, a claim's payloads. */
  entries(place: EntryPlace, options?: PageOptions): Promise<Page<StoredEntry>>;
  /** Takes one entry away for good. False when it is no longer there. */
  remove(set: EntrySet, locator: string): Promise<boolean>;
  /**
   * Moves one entry into its channel, behind those that wait. What it holds is not read again or rewritten
   * except for `queued_ms`; `failure_count` stays.
   */
  requeue(set: EntrySet, locator: string): Promise<RequeueResult>;
  /**
   * One step of requeueing a whole set, from its earliest time: at most `most` entries, passing over the
   * `skip` that earlier steps kept.
   */
  requeueStep(
    set: EntrySet,
    step: { readonly skip: number; readonly most: number } & StepOptions,
  ): Promise<RequeueStep>;
  /** One step of emptying a channel or a set. */
  purgeStep(place: PurgeablePlace, options?: StepOptions): Promise<PurgeStep>;

  nodes(cursor?: string): Promise<Page<NodeView>>;
  /** Leaves a control request, which expires after a minute. False when the node is not known. */
  signal(identity: string, signal: NodeSignal): Promise<boolean>;
  /** What a node's workers say that they run. */
  executions(identity: string, cursor?: string): Promise<Page<ExecutionView>>;

  /** The claims recorded for a node, each with the payload it holds. */
  claims(identity: string, cursor?: string): Promise<Page<ClaimView>>;
  /** One claim or payload; undefined when there is neither. */
  claim(reference: ClaimHolder): Promise<ClaimView | undefined>;

  /** Walks everything that is stored for channels and claims nobody listed. */
  survey(cursor?: string): Promise<Survey>;
  /** Ids for which the Ruby member counts reservations. */
  attempts(cursor?: string): Promise<Page<string>>;
  /**
   * The ids in a user's own collection: a set, list, sorted set or the fields of a hash; on SQLite a table or
   * view of one column. One that does not exist holds none.
   */
  ids(key: string, cursor?: string): Promise<Page<string>>;
}

export interface Page<T> {
  readonly items: readonly T[];
  /** For the next call; undefined at the end. */
  readonly cursor: string | undefined;
}

/** The sets an entry waits or rests in outside its channel. */
export type EntrySet = "planned" | "retrying" | "discarded";

export type PurgeablePlace =
  | { readonly state: "ready"; readonly channel: string }
  | { readonly state: EntrySet };

export type EntryPlace = PurgeablePlace | ({ readonly state: "claimed" } & ClaimHolder);

export interface ClaimHolder {
  readonly node: string;
  /** The worker, with its slot where it has several. */
  readonly holder: string;
}

export interface PageOptions {
  readonly cursor?: string | undefined;
  /** False leaves the texts of well laid out envelopes away, which makes long walks cheaper. Default true. */
  readonly withText?: boolean;
  /** Only entries of this job. */
  readonly id?: string;
}

/** One stored envelope, perhaps not a valid one. */
export interface StoredEntry {
  readonly id: string | undefined;
  readonly channel: string | undefined;
  /** Epoch seconds at which it is due or was discarded; undefined elsewhere. */
  readonly at: number | undefined;
  readonly bytes: number;
  /** Its text, or only the beginning of a very large one, or "" without texts. Bytes that are not UTF-8 read as U+FFFD. */
  readonly text: string;
  readonly isWhole: boolean;
  /** Why it is not a valid envelope. */
  readonly problem: string | undefined;
  /** For `remove` and `requeue`; "" where an entry cannot be addressed. */
  readonly locator: string;
}

export interface StoredCounters {
  /** Jobs done since the store was new. */
  readonly processed: number;
  /** Failures, each try counted. */
  readonly failed: number;
  readonly planned: number;
  readonly retrying: number;
  readonly discarded: number;
  readonly channels: number;
  readonly nodes: number;
}

export interface ChannelView {
  readonly name: string;
  readonly size: number;
  /** How long the next job to run has waited; 0 when it cannot be told or there is none. */
  readonly waitingSeconds: number;
  readonly isPaused: boolean;
  /** Why it cannot be read. */
  readonly problem: string | undefined;
}

/** `gone`: it is no longer there. `unreadable`: its channel cannot be told. `blocked`: its channel cannot take it. */
export type RequeueResult = "requeued" | "gone" | "unreadable" | "blocked";

export interface StepOptions {
  /**
   * A step of the same change went before: what is left may then be reckoned from that one, where counting is
   * dear, and not see for up to 2 s what others add or take. Default false: it is counted.
   */
  readonly isFurther?: boolean;
}

export interface RequeueStep {
  readonly requeued: number;
  /** Entries that stay, because their channel cannot be told here or cannot take them. */
  readonly kept: number;
  /** Entries behind those of this step. */
  readonly remaining: number;
}

export interface PurgeStep {
  readonly removed: number;
  readonly remaining: number;
}

export interface NodeView {
  readonly identity: string;
  readonly hostname: string | undefined;
  readonly pid: number | undefined;
  /** Epoch seconds. */
  readonly startedAt: number | undefined;
  readonly channels: readonly string[];
  readonly labels: readonly string[];
  readonly concurrency: number | undefined;
  readonly busy: number;
  readonly isQuiet: boolean;
  /** Seconds since its last beat by the store's clock; undefined when it has none. */
  readonly beatAgeSeconds: number | undefined;
  /** By the rule that recovery goes by. */
  readonly isLive: boolean;
  /** Why its record is incomplete. */
  readonly problem: string | undefined;
}

export interface ExecutionView {
  readonly node: string;
  /** The worker, with its slot where it has several. */
  readonly executor: string;
  readonly jobId: string | undefined;
  readonly task: string | undefined;
  readonly channel: string | undefined;
  /** Epoch seconds. */
  readonly startedAt: number | undefined;
  readonly attempt: number | undefined;
  readonly problem: string | undefined;
}

export interface ClaimView extends ClaimHolder {
  /** Undefined where a payload has no claim, or one that cannot be read (see `problem`). */
  readonly record: ClaimRecord | undefined;
  readonly problem: string | undefined;
  readonly payloads: number;
  /** The first payload. */
  readonly entry: StoredEntry | undefined;
}

export interface ClaimRecord {
  readonly jobId: string | undefined;
  readonly token: string | undefined;
  readonly channel: string | undefined;
  /** Epoch seconds. */
  readonly claimedAt: number | undefined;
  readonly attempt: number | undefined;
}

export interface Survey {
  readonly channels: readonly string[];
  readonly holders: readonly ClaimHolder[];
  /** Identities with claim records. */
  readonly nodes: readonly string[];
  readonly cursor: string | undefined;
}
