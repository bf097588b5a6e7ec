import { constants, Database } from "bun:sqlite";
import { StoreUnavailable, StoreUnsuitable } from "../../foundation/errors.ts";
import { pause } from "../../foundation/time.ts";
import { translated } from "./errors.ts";
import { prepareFolder } from "./file-system.ts";
import { migrate, schemaVersion, versionOf } from "./schema.ts";
import { type Turns, threadTurns } from "./turns.ts";

export interface FileOptions {
  readonly path: string;
  /** `normal` survives the death of any process, `full` also the loss of power (docs/engines.md). */
  readonly synchronous: "normal" | "full";
}

/** How long one attempt may hold this thread, in turn and at the file's lock. */
const workerWaitMs = 100;
const mainWaitMs = 50;
/** Until a transaction that does not get the file is given up. */
const deadlineMs = 5000;

/** One thread's connection to the file. Transactions are synchronous, short, and take turns. */
export class SqliteFile {
  readonly path: string;
  private readonly options: FileOptions;
  private readonly turns: Turns = threadTurns();
  private readonly waitMs = Bun.isMainThread ? mainWaitMs : workerWaitMs;
  private database: Database | undefined;
  private isClosed = false;

  constructor(options: FileOptions) {
    this.options = options;
    this.path = options.path;
  }

  /** @throws StoreUnsuitable | StoreUnavailable */
  get connection(): Database {
    if (this.isClosed) throw new StoreUnavailable(`${this.path} was closed`, { isSent: false });
    this.database ??= this.open();
    return this.database;
  }

  /** A transaction that writes. What it throws rolls it back. */
  async write<T>(work: (database: Database) => T): Promise<T> {
    const startedAt = performance.now();
    for (let attempts = 0; ; attempts++) {
      try {
        return this.attempt(work);
      } catch (error) {
        const meaning = translated(error, this.path);
        const isHeld = meaning instanceof StoreUnavailable && !this.isClosed;
        if (!isHeld || performance.now() - startedAt > deadlineMs) throw meaning;
        await pause(Math.min(1 + attempts, 10));
      }
    }
  }

  /** Statements that only read, each seeing the file as it is then. */
  async read<T>(work: (database: Database) => T): Promise<T> {
    try {
      return work(this.connection);
    } catch (error) {
      throw translated(error, this.path);
    }
  }

  close(): void {
    this.isClosed = true;
    this.database?.close();
    this.database = undefined;
  }

  private attempt<T>(work: (database: Database) => T): T {
    const database = this.connection;
    const isMyTurn = this.turns.take(this.waitMs);
    try {
      database.run("BEGIN IMMEDIATE");
      try {
        const result = work(database);
        database.run("COMMIT");
        return result;
      } catch (error) {
        if (database.inTransaction) database.run("ROLLBACK");
        throw error;
      }
    } finally {
      if (isMyTurn) this.turns.giveBack();
    }
  }

  private open(): Database {
    prepareFolder(this.path);
    let database: Database | undefined;
    try {
      database = new Database(this.path, constants.SQLITE_OPEN_READWRITE | constants.SQLITE_OPEN_CREATE);
      database.run(`PRAGMA busy_timeout = ${deadlineMs}`); // for setting up only
      this.refuseNewerSchema(database);
      database.run("PRAGMA journal_mode = WAL");
      database.run(`PRAGMA synchronous = ${this.options.synchronous}`);
      migrate(database);
      database.run(`PRAGMA busy_timeout = ${this.waitMs}`);
      return database;
    } catch (error) {
      database?.close();
      throw translated(error, this.path);
    }
  }

  private refuseNewerSchema(database: Database): void {
    const found = versionOf(database);
    if (found <= schemaVersion) return;
    throw new StoreUnsuitable(
      "SCHEMA_NEWER",
      `${this.path} has schema ${found}, written by a newer solid-jobs; this version knows up to ${schemaVersion}: upgrade it, or use another file`,
    );
  }
}
