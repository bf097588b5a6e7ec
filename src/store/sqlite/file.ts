import { constants, Database, type Statement } from "bun:sqlite";
import { StoreFull, StoreUnavailable, StoreUnsuitable } from "../../foundation/errors.ts";
import { DiskSpace } from "./disk-space.ts";
import { translated } from "./errors.ts";
import { prepareFolder } from "./file-system.ts";
import { Patience } from "./patience.ts";
import { identityOf, isOurs, migrate, schemaVersion, versionOf } from "./schema.ts";
import { type Turns, threadTurns } from "./turns.ts";

export interface FileOptions {
  readonly path: string;
  /** `normal` survives the death of any process, `full` also the loss of power (docs/engines.md). */
  readonly synchronous: "normal" | "full";
}

export interface WriteOptions {
  /** Bytes to be published: only publishing fails because the disk is full, and it does so first. */
  readonly publishing?: number;
  /** Called as soon as the transaction is committed. */
  readonly onCommit?: () => void;
}

/** How long one attempt may hold a thread of a node, in turn and at the file's lock. */
const workerWaitMs = 100;
/** The main thread waits its turn without blocking; it blocks only at the file's lock, for other processes. */
const mainBusyMs = 25;
/** How often the path is checked to still be the file that is open. */
const identityCheckMs = 250;
/** Pages in the log at which its pages are written back: rarely, for the two syncs it takes. */
const workerCheckpointPages = 4000;
/** Where a node runs, its workers come first; alone it is blocked for some 50 ms, twice as long with 16,000. */
const mainCheckpointPages = 6000;
const longestLogBytes = 128 * 1024 * 1024;
/** One thread's connection to the file. Transactions are synchronous, short, and take turns. */
export class SqliteFile {
  readonly path: string;
  private readonly options: FileOptions;
  private readonly isMain = Bun.isMainThread;
  private opened: Opened | undefined;
  private readonly space: DiskSpace;
  private openings = 0;
  private isClosed = false;
  private checkedAt = 0;
  /** SQLite's answer goes into the first; no fewer bytes are taken. */
  private readonly moved = new Int32Array(2);

  constructor(options: FileOptions) {
    this.options = options;
    this.path = options.path;
    this.space = new DiskSpace(options.path);
  }

  /** Asked for each time: a thread may join the others after its first publication. */
  get turns(): Turns {
    return threadTurns();
  }

  /** Changes when the file at the path was replaced by another one. */
  get epoch(): number {
    return Math.max(0, this.openings - 1);
  }

  /** @throws StoreUnsuitable | StoreUnavailable */
  get connection(): Database {
    return this.use().database;
  }

  /**
   * A transaction that writes. What it throws rolls it back.
   *
   * @throws StoreFull (publishing only) | StoreUnavailable | StoreUnsuitable | StoreError
   */
  async write<T>(work: (database: Database) => T, options: WriteOptions = {}): Promise<T> {
    const { publishing } = options;
    for (const patience = new Patience(); ; await patience.pause()) {
      try {
        if (publishing !== undefined) {
          this.checkedAt = Number.NEGATIVE_INFINITY; // a job must not go into a file that is no longer there
          this.use();
          this.space.refuseWhenFull(publishing);
        }
        return await this.inTurn(work, options);
      } catch (error) {
        const meaning = translated(error, this.path);
        const isFull = meaning instanceof StoreFull && publishing === undefined;
        const told = isFull
          ? new StoreUnavailable(meaning.message, { isSent: false, cause: error })
          : meaning;
        if (this.isClosed || !patience.has(told)) throw told;
      }
    }
  }

  /** Statements that only read, each seeing the file as it is then. */
  async read<T>(work: (database: Database) => T): Promise<T> {
    for (const patience = new Patience(); ; await patience.pause()) {
      try {
        return work(this.connection);
      } catch (error) {
        const meaning = translated(error, this.path);
        if (this.isClosed || !patience.has(meaning)) throw meaning;
      }
    }
  }

  /** The path, and something that is another one when it leads to another file. */
  get identity(): string {
    return `${this.path} ${this.use().identity}`;
  }

  close(): void {
    this.isClosed = true;
    this.discard();
  }

  private inTurn<T>(work: (database: Database) => T, options: WriteOptions): T | Promise<T> {
    const { turns } = this;
    if (this.isMain && !turns.takeNow()) return this.afterOthers(work, options);
    const isMyTurn = this.isMain || turns.take(workerWaitMs);
    try {
      return this.transact(work, options);
    } finally {
      if (isMyTurn) turns.giveBack();
    }
  }

  /** The main thread is not blocked by its workers' turns. */
  private async afterOthers<T>(work: (database: Database) => T, options: WriteOptions): Promise<T> {
    const { turns } = this;
    const isMyTurn = await turns.takeAsync(workerWaitMs);
    try {
      return this.transact(work, options);
    } finally {
      if (isMyTurn) turns.giveBack();
    }
  }

  private transact<T>(work: (database: Database) => T, { onCommit }: WriteOptions): T {
    const { database, begin, commit } = this.use();
    begin.run();
    let isCommitting = false;
    try {
      const result = work(database);
      isCommitting = true;
      commit.run();
      onCommit?.();
      return result;
    } catch (error) {
      if (database.inTransaction) this.rollBack(database);
      if (isCommitting && (error as { code?: string }).code?.startsWith("SQLITE_IOERR")) {
        // The end of it may be in the log all the same: whoever opens the file next decides.
        throw new StoreUnavailable(`${this.path} could not be written to its end: ${error}`, {
          isSent: true,
          cause: error,
        });
      }
      throw error;
    }
  }

  private rollBack(database: Database): void {
    try {
      database.run("ROLLBACK");
    } catch {
      this.discard(); // a connection that cannot is no use any more; its end rolls back
    }
  }

  private use(): Opened {
    if (this.isClosed) throw new StoreUnavailable(`${this.path} was closed`, { isSent: false });
    const now = performance.now();
    if (this.opened !== undefined && now - this.checkedAt > identityCheckMs) {
      this.checkedAt = now;
      if (this.hasMoved(this.opened.database)) this.discard();
    }
    this.opened ??= this.open();
    return this.opened;
  }

  /** Whether the path leads to another file, or none. Some systems do not tell: there an open file stays. */
  private hasMoved(database: Database): boolean {
    const isKnown = database.fileControl(constants.SQLITE_FCNTL_HAS_MOVED, this.moved) === 0;
    return isKnown && this.moved[0] !== 0;
  }

  private discard(): void {
    const { opened } = this;
    this.opened = undefined;
    opened?.begin.finalize();
    opened?.commit.finalize();
    opened?.database.close();
  }

  private open(): Opened {
    prepareFolder(this.path);
    let database: Database | undefined;
    try {
      database = new Database(this.path, constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE);
      database.run(`PRAGMA busy_timeout = ${this.isMain ? mainBusyMs : workerWaitMs}`);
      this.refuseForeign(database);
      database.run("PRAGMA journal_mode = WAL");
      database.run(`PRAGMA synchronous = ${this.options.synchronous}`);
      database.run(
        `PRAGMA wal_autocheckpoint = ${this.isMain ? mainCheckpointPages : workerCheckpointPages}`,
      );
      database.run(`PRAGMA journal_size_limit = ${longestLogBytes}`);
      migrate(database);
      this.openings += 1;
      this.checkedAt = performance.now();
      const begin = database.prepare("BEGIN IMMEDIATE");
      const commit = database.prepare("COMMIT");
      return { database, identity: identityOf(database), begin, commit };
    } catch (error) {
      database?.close();
      throw translated(error, this.path);
    }
  }

  private refuseForeign(database: Database): void {
    if (!isOurs(database)) {
      throw new StoreUnsuitable(
        "NOT_OURS",
        `${this.path} is a database of another program; set a path of its own for solid-jobs: sqlite:/path/jobs.sqlite`,
      );
    }
    const found = versionOf(database);
    if (found <= schemaVersion) return;
    throw new StoreUnsuitable(
      "SCHEMA_NEWER",
      `${this.path} has schema ${found}, written by a newer solid-jobs; this version knows up to ${schemaVersion}: upgrade it, or use another file`,
    );
  }
}

interface Opened {
  readonly database: Database;
  readonly identity: string;
  readonly begin: Statement;
  readonly commit: Statement;
}
