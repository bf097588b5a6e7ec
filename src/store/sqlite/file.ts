import { constants, Database, type Statement } from "bun:sqlite";
import { statSync } from "node:fs";
import { StoreFull, StoreUnavailable, StoreUnsuitable } from "../../foundation/errors.ts";
import { pause } from "../../foundation/time.ts";
import { translated } from "./errors.ts";
import { freeBytes, prepareFolder } from "./file-system.ts";
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
/** Until a transaction that does not get the file is given up. */
const deadlineMs = 5000;
/** How often the path is checked to still be the file that is open. */
const identityCheckMs = 250;
/** Pages in the log at which its pages are written back: rarely, for the two syncs it takes. */
const workerCheckpointPages = 4000;
/** Where a node runs, its workers come first; alone it is blocked for some 50 ms, twice as long with 16,000. */
const mainCheckpointPages = 6000;
const longestLogBytes = 128 * 1024 * 1024;
/** Left on the disk by publishing, so that what runs can still be settled. */
const reservedBytes = 4 * 1024 * 1024;

/** One thread's connection to the file. Transactions are synchronous, short, and take turns. */
export class SqliteFile {
  readonly path: string;
  private readonly options: FileOptions;
  private readonly isMain = Bun.isMainThread;
  private opened: Opened | undefined;
  private openings = 0;
  private isClosed = false;
  private checkedAt = 0;

  constructor(options: FileOptions) {
    this.options = options;
    this.path = options.path;
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
    return this.patiently(async () => {
      if (options.publishing !== undefined) {
        this.checkedAt = Number.NEGATIVE_INFINITY; // a job must not go into a file that is no longer there
        this.use();
        this.refuseWhenFull(options.publishing);
      }
      const { turns } = this;
      const isMyTurn = this.isMain ? await turns.takeAsync(workerWaitMs) : turns.take(workerWaitMs);
      try {
        const result = this.transact(this.use(), work);
        options.onCommit?.();
        return result;
      } catch (error) {
        const meaning = translated(error, this.path);
        if (!(meaning instanceof StoreFull) || options.publishing !== undefined) throw meaning;
        throw new StoreUnavailable(meaning.message, { isSent: false, cause: error });
      } finally {
        if (isMyTurn) turns.giveBack();
      }
    });
  }

  /** Statements that only read, each seeing the file as it is then. */
  read<T>(work: (database: Database) => T): Promise<T> {
    return this.patiently(() => work(this.connection));
  }

  /** The path, and something that is another one when it leads to another file. */
  get identity(): string {
    return `${this.path} ${this.use().identity}`;
  }

  close(): void {
    this.isClosed = true;
    this.discard();
  }

  /** Until it is not busy, for a while. */
  private async patiently<T>(attempt: () => T | Promise<T>): Promise<T> {
    const startedAt = performance.now();
    for (let attempts = 0; ; attempts++) {
      try {
        return await attempt();
      } catch (error) {
        const meaning = translated(error, this.path);
        const mayTryAgain = meaning instanceof StoreUnavailable && !meaning.isSent && !this.isClosed;
        if (!mayTryAgain || performance.now() - startedAt > deadlineMs) throw meaning;
        await pause(Math.min(1 + attempts, 10));
      }
    }
  }

  private transact<T>({ database, begin, commit }: Opened, work: (database: Database) => T): T {
    begin.run();
    let isCommitting = false;
    try {
      const result = work(database);
      isCommitting = true;
      commit.run();
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

  private refuseWhenFull(bytes: number): void {
    const needed = reservedBytes + 2 * bytes; // in the log, then in the file
    const free = freeBytes(this.path);
    if (free >= needed) return;
    throw new StoreFull(
      `${this.path}: the disk has ${free} bytes left, publishing needs ${needed}; free some space, nothing is lost`,
    );
  }

  private use(): Opened {
    if (this.isClosed) throw new StoreUnavailable(`${this.path} was closed`, { isSent: false });
    const now = performance.now();
    if (this.opened !== undefined && now - this.checkedAt > identityCheckMs) {
      this.checkedAt = now;
      if (inodeOf(this.path) !== this.opened.inode) this.discard();
    }
    this.opened ??= this.open();
    return this.opened;
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
      const inode = inodeOf(this.path);
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
      return { database, inode, identity: identityOf(database), begin, commit };
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
  readonly inode: string;
  readonly identity: string;
  readonly begin: Statement;
  readonly commit: Statement;
}

/** No other file gets the number while this one is open. */
function inodeOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? "" : `${found.dev}:${found.ino}`;
}
