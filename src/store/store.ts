import type { EnvelopeParts } from "../envelope/parts.ts";

/**
 * The contract of a store: what the runtime needs of an engine, and nothing of the engine itself. Redis
 * and SQLite both fulfil it, and one conformance suite runs on both.
 *
 * Every transition is atomic (one script or one transaction), fenced (by claim token and generation),
 * idempotent (may be sent again after a lost reply), bounded (by count and bytes) and on the store's
 * clock. Payloads are JSON text that the store never re-encodes. Errors are those of
 * `foundation/errors.ts`: `StoreUnavailable` (try again), `StoreFull` (publishing only), `StoreError`.
 */
export interface Store extends PublishStore, CycleStore, WaitStore, NodeStore {
  readonly engine: "redis" | "sqlite" | "lab";
  /** Where the store is, without credentials, for logs and messages. */
  readonly address: string;
  /** Changes when the connection was replaced: commands may have been lost, or executed late. */
  readonly epoch: number;
  /**
   * A real round trip and the checks of the engine (version, mode, eviction policy).
   *
   * @throws StoreUnavailable | StoreUnsuitable
   */
  open(): Promise<StoreReport>;
  /** Ends the connections. Calls under way fail with `StoreUnavailable`. May be called twice. */
  close(): Promise<void>;
}

export interface StoreReport {
  /** Such as `redis 7.0.15` or `sqlite 3.54.1`. */
  readonly version: string;
  /** What the operator should know but that does not prevent working. */
  readonly warnings: readonly string[];
}

// ---------------------------------------------------------------------------------------- publishing

/** One envelope to store. Without `due` it goes to its channel at once. */
export interface Publication {
  readonly id: string;
  readonly channel: string;
  readonly payload: string;
  /** What the payload is made of, where that is known: a store may keep it as that. */
  readonly parts?: EnvelopeParts;
  readonly due?: Due;
}

/** Seconds: from the store's now, or epoch seconds. A time in the past goes through `planned` as well. */
export type Due = { readonly afterSeconds: number } | { readonly atSeconds: number };

export interface PublishStore {
  /**
   * Stores all of them or none. With a `barrier` (an id also written in the envelopes) none is reserved
   * until `releaseBarrier` or 30 s have passed.
   *
   * @throws StoreFull | StoreUnavailable (`isSent` tells whether the outcome is unknown) | StoreError
   */
  publish(publications: readonly Publication[], barrier?: string): Promise<void>;
  releaseBarrier(barrier: string): Promise<void>;
}

// ---------------------------------------------------------------------------------------- the cycle

/** Who asks: a worker of a node, under its present generation. */
export interface Executor {
  readonly node: string;
  readonly executor: string;
  readonly generation: string;
}

export interface ClaimReference {
  readonly slot: number;
  readonly token: string;
}

/** The end of one claim. `jobId` clears the Ruby member's reservation count. */
export type Settlement = ClaimReference & { readonly jobId: string } & SettlementOutcome;

export type SettlementOutcome =
  /** Done: counted as processed. */
  | { readonly outcome: "ack" }
  /** Ended without success and without a further try: counted as failed. */
  | { readonly outcome: "drop" }
  /** Back to the head of its channel as it was stored; not counted. */
  | { readonly outcome: "requeue" }
  /** Into `retries` as it was stored, `delaySeconds` from the store's now; not counted. A suspect has waited in vain. */
  | { readonly outcome: "postpone"; readonly delaySeconds: number }
  /** Into `retries`, `delaySeconds` from the store's now; counted as failed. */
  | { readonly outcome: "retry"; readonly delaySeconds: number; readonly payload: string | Uint8Array }
  /** Into `discarded` at the store's now; counted as failed. */
  | { readonly outcome: "archive"; readonly payload: string | Uint8Array };

/** A channel to reserve from. In the first pass at most `quota` jobs are taken, in the second the rest. */
export interface ChannelShare {
  readonly channel: string;
  readonly quota: number;
}

export interface CycleRequest {
  readonly executor: Executor;
  readonly settlements: readonly Settlement[];
  /** Free slots to fill; none only settles. */
  readonly slots: readonly number[];
  /** In the order in which they are to be looked at. */
  readonly channels: readonly ChannelShare[];
  /** Settles each job as it is reserved (at-most-once); its later settlement has the token `""`. */
  readonly isAtMostOnce?: boolean;
  /**
   * The new claims' tokens are `<tokenBase>.<slot>`: the caller then knows them before the answer. Letters,
   * digits and dots, used for no other call. Made by the store where it is absent.
   */
  readonly tokenBase?: string;
  /**
   * Given while the worker has work in hand; grows with each call that carries it. The claims of this call may
   * not begin at once, those of the calls before may have: where a node dies, a claim of its worker's last
   * such call counts no crash.
   */
  readonly ahead?: number;
}

export interface Reservation {
  readonly slot: number;
  /** The fence of this claim, `""` with at-most-once. */
  readonly token: string;
  readonly channel: string;
  /** As text: bytes that are not UTF-8 read as U+FFFD (see `claimedBytes`). */
  readonly raw: string;
  /** Reservations the Ruby member counted for this job, 0 where it counted none. */
  readonly earlierAttempts: number;
  /** Only of a job that is suspected; none at most once. */
  readonly suspicion?: Suspicion;
}

/**
 * What the deaths of nodes and threads while a job ran say of it, once they are `max_crashes` - 1: it is a
 * suspect, which may run only alone on its node (see `beginAlone`). It ends with the job: when it is acked,
 * dropped or archived, or 7 days after the last death. A retry or a requeue keeps it.
 */
export interface Suspicion {
  readonly crashes: number;
  /** It died alone on its node: it is poison and is not to run again. */
  readonly isPoison: boolean;
  /** How often it was postponed, because its node's other jobs did not end in time. */
  readonly waits: number;
}

export interface CycleReply {
  /** Settlements that found no claim under their token and wrote nothing. */
  readonly refused: readonly Settlement[];
  /** Settlements the store could not carry out, with the reason; their claims stand. Send them again. */
  readonly blocked: readonly { readonly settlement: Settlement; readonly reason: string }[];
  readonly reserved: readonly Reservation[];
  /** False when this generation is retired: nothing was or will be reserved. */
  readonly isCurrent: boolean;
  /** Channels that had jobs which may not be taken now: paused, or all barred. */
  readonly held: readonly string[];
  /** Channels that cannot be read, with the reason (a key of the wrong type). */
  readonly broken: readonly { readonly channel: string; readonly reason: string }[];
  /** Envelopes that could not be read and were archived with their bytes. */
  readonly archivedAsGarbage: number;
  /** A slot called free holds a payload in the store: its owner must reconcile. */
  readonly hasStrays: boolean;
  readonly nowMs: number;
}

/** A claim as it is stored. */
export interface StoredClaim extends ClaimReference {
  readonly jobId: string;
  readonly channel: string;
  readonly claimedAt: number;
  readonly attempt: number;
  /** A suspect's or poison's: `waiting` until it has begun, `alone` from then on. */
  readonly standing?: "waiting" | "alone";
}

export interface CycleStore {
  /**
   * Settles finished claims, then reserves for the free slots: at most 1 MiB, but always one. An engine may
   * give fewer than 1 MiB holds to keep its calls short: that nothing is left shows only in a call that
   * reserves nothing.
   */
  cycle(request: CycleRequest): Promise<CycleReply>;
  /** The exact bytes of a claimed payload, or undefined when the token no longer holds it. */
  claimedBytes(executor: Executor, claim: ClaimReference): Promise<Uint8Array | undefined>;
  /**
   * Compares what is stored for a worker with the claims it knows, and moves it to a new generation, so
   * that its late commands reserve nothing. What it does not know is requeued, uncounted.
   *
   * @returns `isCurrent: false` when the old generation is retired; `missing`: known claims that are gone
   */
  reconcile(
    executor: Executor,
    newGeneration: string,
    known: readonly ClaimReference[],
    slotCount: number,
  ): Promise<{ isCurrent: boolean; missing: readonly ClaimReference[]; requeued: number }>;
  /**
   * Notes on a suspect's claim that it begins now, alone on its node. Until then its claim counts no crash; from
   * then on a death of its node or thread makes it poison. False when the claim or the generation is gone: it
   * must not begin.
   */
  beginAlone(executor: Executor, claim: ClaimReference): Promise<boolean>;
  /** Replaces what this worker shows as running; without arguments, see `RunningJob`. */
  showRunning(executor: Executor, jobs: readonly RunningJob[]): Promise<void>;
}

export interface RunningJob extends ClaimReference {
  readonly channel: string;
  /** The envelope without its arguments, JSON text. */
  readonly envelopeJson: string;
  readonly startedAtMs: number;
  readonly attempt: number;
}

// ---------------------------------------------------------------------------------------- waiting

export interface WaitStore {
  /** A waiter of its own for one channel. It holds what it needs (a connection) from the first wait on. */
  waiter(channel: string): ChannelWaiter;
}

export interface ChannelWaiter {
  /**
   * Resolves when the channel has something (which may not be reservable), or `timeoutMs` has passed, or
   * the waiter is closed. Sees what any member of the family puts there.
   *
   * @returns `ready`, `quiet` after the time, `paused` at once for a paused channel, `closed`
   * @throws StoreUnavailable | StoreError
   */
  wait(timeoutMs: number): Promise<"ready" | "quiet" | "paused" | "closed">;
  close(): void;
}

// ---------------------------------------------------------------------------------------- nodes

export interface NodeRecord {
  readonly identity: string;
  readonly hostname: string;
  readonly pid: number;
  readonly startedAt: number;
  readonly channels: readonly string[];
  readonly labels: readonly string[];
  readonly concurrency: number;
  /** Seconds without a beat after which others may recover it. */
  readonly ttl: number;
  /** Proof of death on the same machine; empty where the system has none. */
  readonly bootId: string;
  readonly pidNamespace: string;
  readonly pidStarted: string;
}

export interface BeatReply {
  /** False: this identity is gone or declared dead, and never comes back. */
  readonly isAlive: boolean;
  /** How long this node has beaten without a gap, by the store's clock. */
  readonly steadyMs: number;
  /** Since the beat before this one. */
  readonly silentMs: number;
  readonly nowMs: number;
}

/** Another node as a recoverer sees it. Fields of unknown members may be missing. */
export interface NodeSighting {
  readonly identity: string;
  readonly bootId?: string;
  readonly pidNamespace?: string;
  readonly pidStarted?: string;
  readonly pid?: number;
}

export interface Orphan {
  readonly identity: string;
  /** The executors with a claimed list, as their keys name them. */
  readonly executors: readonly string[];
}

export interface RecoverRequest {
  readonly identity: string;
  /** Executors with lists that no claim record may tell of. */
  readonly executors?: readonly string[];
  readonly judge: string;
  /** The judge has proof that the process is gone: its age does not matter. */
  readonly isProven: boolean;
}

export interface RecoverReply {
  /**
   * `alive`: not dead, nothing done. `more`: call again. `done`: nothing of it is left. `stuck`: what is
   * left cannot be put back (its channel is a key of the wrong type); it stays where it is.
   */
  readonly state: "alive" | "more" | "done" | "stuck";
  readonly recovered: readonly {
    readonly jobId: string;
    readonly channel: string;
    readonly crashes: number;
  }[];
}

export interface PromoteReply {
  readonly planned: number;
  readonly retries: number;
  /** Until the next one is due: 0 when more are due already, undefined when none is stored. */
  readonly nextInMs: number | undefined;
  /** What could not be promoted, with the reason: left in place, or put off by a minute. */
  readonly problems: readonly string[];
}

export type NodeSignal = "TSTP" | "TERM" | "TTIN";

export interface RevokeOptions {
  readonly isCrash: boolean;
  readonly running?: readonly number[];
  readonly spared?: readonly string[];
}

export interface NodeStore {
  /** Stores the node with its first beat. Its identity must be new. */
  register(node: NodeRecord): Promise<void>;
  /** Allows a worker to reserve under `generation`. Before its thread starts. False: the node is gone. */
  grant(executor: Executor): Promise<boolean>;
  /**
   * Takes the generation away, so that nothing more is reserved, and tells what the worker holds. The
   * claims stay, to be settled by token. `isCrash` counts a crash for each job it holds, or only for those
   * in the slots that were `running`, or for all but the claims with the tokens that are `spared`; none for
   * suspects that had not begun.
   */
  revoke(node: string, executor: string, options: RevokeOptions): Promise<readonly StoredClaim[]>;
  beat(
    identity: string,
    state: { readonly busy: number; readonly isQuiet: boolean; readonly isNewServer: boolean },
  ): Promise<BeatReply>;
  /** Something that changes when the server behind the address is another one or was restarted. */
  serverIdentity(): Promise<string>;
  /** Takes the remote control requests left for a node. */
  takeSignals(identity: string): Promise<readonly NodeSignal[]>;
  /** Moves at most 100 due envelopes of each set into their channels; fewer where they are large. */
  promoteDue(): Promise<PromoteReply>;
  /** The nodes that others may judge, in pages: call with the cursor until it is undefined. */
  sightNodes(cursor?: string): Promise<{ nodes: readonly NodeSighting[]; cursor: string | undefined }>;
  /** Claims of nodes that the node set does not name, by a scan in pages (an empty page is not the end). */
  sightOrphans(cursor?: string): Promise<{ orphans: readonly Orphan[]; cursor: string | undefined }>;
  /**
   * Checks that a node is dead (proof, or its beat older than its ttl while the judge has been steady
   * for 10 s), marks it, and moves its claims back in bounded steps; each that had begun counts a crash for its
   * job. A job with `max_crashes` - 1 of them is a suspect from then on; one that died alone is poison.
   */
  recover(request: RecoverRequest): Promise<RecoverReply>;
  /** Nobody of this node reserves any more; running jobs can still be settled. */
  closeForReservations(identity: string): Promise<void>;
  /** Requeues what is left, uncounted, and removes the node. */
  leave(identity: string): Promise<{ requeued: number }>;
}
