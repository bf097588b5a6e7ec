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
  RunningJob,
  Store,
  StoredClaim,
  StoreReport,
} from "../store.ts";
import { type ArchiveLimits, Cycle } from "./cycle.ts";
import { Engine } from "./engine.ts";
import { type FileOptions, SqliteFile } from "./file.ts";
import { requeuedText } from "./head.ts";
import { Nodes } from "./nodes.ts";
import { jobState } from "./schema.ts";
import type { Statements } from "./statements.ts";
import { ChangeFeed, SqliteChannelWaiter } from "./waiter.ts";

export interface SqliteStoreOptions extends ArchiveLimits, FileOptions {}

const barrierSeconds = 30;
const promotedPerSet = 100;
const promotedBytes = 1024 * 1024;

/** The store in one SQLite file, shared by all threads and processes of a machine. */
export class SqliteStore implements Store {
  readonly engine = "sqlite";
  readonly address: string;
  readonly epoch = 0;
  private readonly file: SqliteFile;
  private readonly rows: Engine;
  private readonly cycles: Cycle;
  private readonly nodes: Nodes;
  private readonly feed: ChangeFeed;

  constructor(options: SqliteStoreOptions) {
    this.address = `sqlite:${options.path}`;
    this.file = new SqliteFile(options);
    this.rows = new Engine(this.file);
    this.cycles = new Cycle(this.rows, options);
    this.nodes = new Nodes(this.rows);
    this.feed = new ChangeFeed(options.path);
  }

  async open(): Promise<StoreReport> {
    const version = await this.file.read(
      (database) => database.query<{ v: string }, []>("SELECT sqlite_version() AS v").get()?.v,
    );
    return { version: `sqlite ${version}`, warnings: [] };
  }

  async close(): Promise<void> {
    this.file.close();
  }

  // -------------------------------------------------------------------------------------- publishing

  publish(publications: readonly Publication[], barrier = ""): Promise<void> {
    return this.rows.write((statements, now) => {
      if (barrier !== "") statements.addBarrier.run(barrier, now + barrierSeconds);
      const channels = new Map<string, number>();
      const ownBarrier = barrier === "" ? null : barrier;
      for (const { id, channel, payload, due } of publications) {
        const number = channels.get(channel) ?? this.rows.channelId(statements, channel);
        channels.set(channel, number);
        if (due === undefined) statements.insertJob.run(number, jobState.ready, now, id, ownBarrier, payload);
        else {
          const at = "afterSeconds" in due ? now + due.afterSeconds : due.atSeconds;
          statements.insertJob.run(number, jobState.planned, at, id, ownBarrier, payload);
        }
      }
    });
  }

  releaseBarrier(barrier: string): Promise<void> {
    return this.rows.write((statements) => {
      statements.dropBarrier.run(barrier);
    });
  }

  // -------------------------------------------------------------------------------------- the cycle

  cycle(request: CycleRequest): Promise<CycleReply> {
    return this.cycles.run(request);
  }

  claimedBytes({ node, executor }: Executor, claim: ClaimReference): Promise<Uint8Array | undefined> {
    return this.rows.read((statements) => {
      const stored = statements.claim.get(node, executor, claim.slot);
      if (stored?.token !== claim.token) return undefined;
      const payload = statements.payload.get(stored.seq)?.payload;
      return typeof payload === "string" ? Buffer.from(payload) : payload;
    });
  }

  reconcile(
    executor: Executor,
    newGeneration: string,
    known: readonly ClaimReference[],
  ): Promise<{ isCurrent: boolean; missing: readonly ClaimReference[]; requeued: number }> {
    return this.nodes.reconcile(executor, newGeneration, known);
  }

  showRunning({ node, executor }: Executor, jobs: readonly RunningJob[]): Promise<void> {
    return this.rows.write((statements) => {
      statements.deleteRunning.run(node, executor);
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

  revoke(node: string, executor: string, { isCrash }: { isCrash: boolean }): Promise<readonly StoredClaim[]> {
    return this.nodes.revoke(node, executor, isCrash);
  }

  beat(
    identity: string,
    state: { busy: number; isQuiet: boolean; isNewServer: boolean },
  ): Promise<BeatReply> {
    return this.nodes.beat(identity, state);
  }

  async serverIdentity(): Promise<string> {
    return this.file.path;
  }

  takeSignals(identity: string): Promise<readonly NodeSignal[]> {
    return this.nodes.takeSignals(identity);
  }

  async promoteDue(): Promise<PromoteReply> {
    const isDue = await this.rows.read((statements, now) => this.nextInMs(statements, now) === 0);
    if (!isDue) return { planned: 0, retries: 0, nextInMs: await this.next(), problems: [] };
    return this.rows.write((statements, now) => {
      const planned = this.promote(statements, jobState.planned, now);
      const retries = this.promote(statements, jobState.retrying, now);
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

  private next(): Promise<number | undefined> {
    return this.rows.read((statements, now) => this.nextInMs(statements, now));
  }

  private nextInMs(statements: Statements, now: number): number | undefined {
    const at = statements.soonest.get()?.at;
    return at === undefined || at === null ? undefined : Math.max(0, Math.ceil((at - now) * 1000));
  }

  private promote(statements: Statements, state: number, now: number): number {
    let promoted = 0;
    let bytes = 0;
    for (const { seq, channel, payload } of statements.due.all(state, now, promotedPerSet)) {
      bytes += payload.length;
      if (promoted > 0 && bytes > promotedBytes) break;
      const renewed = typeof payload === "string" ? requeuedText(payload, Math.floor(now * 1000)) : payload;
      statements.moveJob.run(jobState.ready, now, channel, renewed, seq);
      promoted += 1;
    }
    return promoted;
  }
}
