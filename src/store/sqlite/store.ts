import { StoreError } from "../../foundation/errors.ts";
import { runningJson } from "../node-info.ts";
import type {
  BeatReply,
  ClaimReference,
  CycleReply,
  CycleRequest,
  Executor,
  NodeRecord,
  NodeSighting,
  NodeSignal,
  Orphan,
  PromoteReply,
  Publication,
  RecoverReply,
  RecoverRequest,
  RevokeOptions,
  RunningJob,
  Store,
  StoredClaim,
  StoreReport,
} from "../store.ts";
import { defaultMaxCrashes } from "../suspicion.ts";
import { stored } from "./bodies.ts";
import { Cycle } from "./cycle.ts";
import { claimKey, Engine } from "./engine.ts";
import { type FileOptions, SqliteFile } from "./file.ts";
import { byteLength, requeued } from "./head.ts";
import { Inserting } from "./inserting.ts";
import { Nodes } from "./nodes.ts";
import { Presence } from "./presence.ts";
import type { ArchiveLimits } from "./settling.ts";
import type { DueRow, Statements } from "./statements.ts";
import { ChangeFeed, SqliteChannelWaiter } from "./waiter.ts";

export interface SqliteStoreOptions extends ArchiveLimits, FileOptions {
  /** See the setting. Default 3. */
  readonly maxCrashes?: number;
}

const barrierSeconds = 30;
const promotedPerSet = 100;
const promotedBytes = 1024 * 1024;

/** The store in one SQLite file, shared by all threads and processes of a machine. */
export class SqliteStore implements Store {
  readonly engine = "sqlite";
  readonly address: string;
  private readonly file: SqliteFile;
  private readonly rows: Engine;
  private readonly cycles: Cycle;
  private readonly nodes: Nodes;
  private readonly feed: ChangeFeed;
  private readonly presence: Presence;

  constructor(options: SqliteStoreOptions) {
    this.address = `sqlite:${options.path}`;
    this.file = new SqliteFile(options);
    this.rows = new Engine(this.file);
    this.cycles = new Cycle(this.rows, options);
    this.presence = new Presence(options.path);
    const { maxCrashes = defaultMaxCrashes } = options;
    this.nodes = new Nodes(this.rows, { presence: this.presence, maxCrashes });
    this.feed = new ChangeFeed(this.rows);
  }

  get epoch(): number {
    return this.file.epoch;
  }

  async open(): Promise<StoreReport> {
    const version = await this.file.read(
      (database) => database.query<{ v: string }, []>("SELECT sqlite_version() AS v").get()?.v,
    );
    return { version: `sqlite ${version}`, warnings: [] };
  }

  async close(): Promise<void> {
    this.file.close();
    this.presence.close();
  }

  // -------------------------------------------------------------------------------------- publishing

  async publish(publications: readonly Publication[], barrier = ""): Promise<void> {
    let bytes = 0;
    for (const publication of publications) {
      refuseEndlessDue(publication);
      bytes += sizeOf(publication);
    }
    await this.rows.write(
      (statements, now) => {
        if (barrier !== "") statements.addBarrier.run(barrier, now + barrierSeconds);
        const inserting = new Inserting(this.rows, statements, now);
        for (const publication of publications) inserting.add(publication, barrier);
        inserting.flush();
        this.rows.announce();
      },
      { publishing: bytes },
    );
  }

  releaseBarrier(barrier: string): Promise<void> {
    return this.rows.write((statements) => {
      statements.dropBarrier.run(barrier);
      this.rows.announce();
    });
  }

  // -------------------------------------------------------------------------------------- the cycle

  cycle(request: CycleRequest): Promise<CycleReply> {
    return this.cycles.run(request);
  }

  claimedBytes({ node, executor }: Executor, claim: ClaimReference): Promise<Uint8Array | undefined> {
    return this.rows.read((statements) => {
      const key = this.rows.executorKey(statements, { node, executor });
      const stored = key === undefined ? null : statements.claim.get(claimKey(key, claim.slot));
      if (stored?.token !== claim.token || stored.payload === null) return undefined;
      return typeof stored.payload === "string" ? Buffer.from(stored.payload) : stored.payload;
    });
  }

  reconcile(
    executor: Executor,
    newGeneration: string,
    known: readonly ClaimReference[],
  ): Promise<{ isCurrent: boolean; missing: readonly ClaimReference[]; requeued: number }> {
    return this.nodes.reconcile(executor, newGeneration, known);
  }

  beginAlone(executor: Executor, claim: ClaimReference): Promise<boolean> {
    return this.nodes.beginAlone(executor, claim);
  }

  showRunning({ node, executor }: Executor, jobs: readonly RunningJob[]): Promise<void> {
    return this.rows.write((statements) => {
      statements.deleteRunning.run(node, executor);
      if (statements.node.get(node) === null) return; // it left meanwhile
      for (const job of jobs) statements.addRunning.run(node, executor, job.slot, runningJson(job));
    });
  }

  // -------------------------------------------------------------------------------------- waiting

  waiter(channel: string): SqliteChannelWaiter {
    return new SqliteChannelWaiter(this.rows, this.feed, channel);
  }

  // -------------------------------------------------------------------------------------- nodes

  register(node: NodeRecord): Promise<void> {
    return this.nodes.register(node);
  }

  grant(executor: Executor): Promise<boolean> {
    return this.nodes.grant(executor);
  }

  revoke(node: string, executor: string, options: RevokeOptions): Promise<readonly StoredClaim[]> {
    return this.nodes.revoke(node, executor, options);
  }

  beat(
    identity: string,
    state: { busy: number; isQuiet: boolean; isNewServer: boolean },
  ): Promise<BeatReply> {
    return this.nodes.beat(identity, state);
  }

  async serverIdentity(): Promise<string> {
    return this.file.read(() => this.file.identity);
  }

  takeSignals(identity: string): Promise<readonly NodeSignal[]> {
    return this.nodes.takeSignals(identity);
  }

  async promoteDue(): Promise<PromoteReply> {
    const nextInMs = await this.rows.read((statements, now) => this.nextInMs(statements, now));
    if (nextInMs !== 0) return { planned: 0, retries: 0, nextInMs, problems: [] };
    return this.rows.write((statements, now) => {
      const planned = this.promote(statements, statements.plannedDue.iterate(now), now);
      const retries = this.promote(statements, statements.retriesDue.iterate(now), now);
      if (planned + retries > 0) this.rows.announce();
      return { planned, retries, nextInMs: this.nextInMs(statements, now), problems: [] };
    });
  }

  sightNodes(): Promise<{ nodes: readonly NodeSighting[]; cursor: string | undefined }> {
    return this.nodes.sight();
  }

  sightOrphans(): Promise<{ orphans: readonly Orphan[]; cursor: string | undefined }> {
    return this.nodes.sightOrphans();
  }

  recover(request: RecoverRequest): Promise<RecoverReply> {
    return this.nodes.recover(request);
  }

  closeForReservations(identity: string): Promise<void> {
    return this.nodes.closeForReservations(identity);
  }

  leave(identity: string): Promise<{ requeued: number }> {
    return this.nodes.leave(identity);
  }

  private nextInMs(statements: Statements, now: number): number | undefined {
    const at = statements.soonest.get()?.at;
    return at === undefined || at === null ? undefined : Math.max(0, Math.ceil((at - now) * 1000));
  }

  /** About 1 MiB, but always one. All rows are read before the first one is changed. */
  private promote(statements: Statements, due: Iterable<DueRow>, now: number): number {
    const rows: DueRow[] = [];
    let bytes = 0;
    for (const row of due) {
      bytes += byteLength(row.payload);
      if (rows.length > 0 && bytes > promotedBytes) break;
      rows.push(row);
      if (rows.length === promotedPerSet) break;
    }
    const nowMs = Math.floor(now * 1000);
    for (const { seq, channel, id, barrier, payload } of rows) {
      const { shape, payload: text } = stored(statements.addBody, requeued(payload, nowMs));
      statements.promoteJob.run(channel, shape, id, barrier, text);
      statements.deleteJob.run(seq);
    }
    return rows.length;
  }
}

/** About what it takes on the disk, without making its text. */
function sizeOf(publication: Publication): number {
  const { parts } = publication;
  return parts === undefined ? publication.payload.length : parts.shape.bytes + parts.argumentsJson.length;
}

function refuseEndlessDue({ id, due }: Publication): void {
  if (due === undefined) return;
  const seconds = "afterSeconds" in due ? due.afterSeconds : due.atSeconds;
  if (!Number.isFinite(seconds))
    throw new StoreError(`job ${id}: expected a finite number of seconds as its due time, got ${seconds}`);
}
