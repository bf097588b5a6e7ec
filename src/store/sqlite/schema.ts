import type { Database } from "bun:sqlite";

/**
 * The state of a job's row. Ready jobs are taken in the order of `at`, then of `seq`. SQLite stores 0 and 1
 * in no byte and these in one: a row that changes from one to another keeps its size, so that it is
 * overwritten in place, however large its payload.
 */
export const jobState = { ready: 2, planned: 3, retrying: 4, discarded: 5, claimed: 6 } as const;

/**
 * The condition of the index of those three. SQLite uses a partial index only where a query repeats its
 * condition word for word.
 */
export const timed = "state BETWEEN 3 AND 5";

/** Marks the file as ours ("sjob" in ASCII), so that no other program's database is written into. */
const applicationId = 0x736a6f62;

/**
 * The schema, one migration a step; `PRAGMA user_version` counts those applied. A migration that has been
 * released is never changed.
 */
const migrations: readonly string[] = [
  `
  CREATE TABLE channels (
    id INTEGER PRIMARY KEY,
    name TEXT NOT NULL UNIQUE,
    paused INTEGER NOT NULL DEFAULT 0
  );
  -- at: ready since, due at or archived at, epoch seconds. payload: TEXT, or BLOB when it is not UTF-8.
  CREATE TABLE jobs (
    seq INTEGER PRIMARY KEY,
    channel INTEGER NOT NULL,
    state INTEGER NOT NULL,
    at REAL NOT NULL,
    id TEXT NOT NULL,
    barrier TEXT,
    payload NOT NULL
  );
  CREATE INDEX jobs_ready ON jobs (channel, at, seq) WHERE state = 2;
  CREATE INDEX jobs_timed ON jobs (state, at, seq) WHERE state BETWEEN 3 AND 5;
  CREATE TABLE claims (
    node TEXT NOT NULL,
    executor TEXT NOT NULL,
    slot INTEGER NOT NULL,
    token TEXT NOT NULL,
    seq INTEGER NOT NULL,
    id TEXT NOT NULL,
    claimed_at REAL NOT NULL,
    attempt INTEGER NOT NULL,
    crashed INTEGER NOT NULL DEFAULT 0, -- 1: this claim's crash is counted already
    PRIMARY KEY (node, executor, slot)
  ) WITHOUT ROWID;
  CREATE TABLE nodes (
    identity TEXT PRIMARY KEY,
    info TEXT NOT NULL,
    beat REAL NOT NULL,
    beating_since REAL NOT NULL,
    busy INTEGER NOT NULL DEFAULT 0,
    quiet INTEGER NOT NULL DEFAULT 0,
    concurrency INTEGER NOT NULL,
    dead REAL
  ) WITHOUT ROWID;
  CREATE TABLE generations (
    node TEXT NOT NULL,
    executor TEXT NOT NULL,
    generation TEXT NOT NULL,
    PRIMARY KEY (node, executor)
  ) WITHOUT ROWID;
  CREATE TABLE running (
    node TEXT NOT NULL,
    executor TEXT NOT NULL,
    slot INTEGER NOT NULL,
    job TEXT NOT NULL,
    PRIMARY KEY (node, executor, slot)
  ) WITHOUT ROWID;
  CREATE TABLE signals (
    seq INTEGER PRIMARY KEY,
    node TEXT NOT NULL,
    signal TEXT NOT NULL,
    expires_at REAL NOT NULL
  );
  CREATE TABLE barriers (id TEXT PRIMARY KEY, expires_at REAL NOT NULL) WITHOUT ROWID;
  CREATE TABLE crashes (id TEXT PRIMARY KEY, count INTEGER NOT NULL, expires_at REAL NOT NULL) WITHOUT ROWID;
  CREATE TABLE counters (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
  INSERT INTO counters VALUES ('processed', 0), ('failed', 0);
  -- One row: what tells this file from any other that ever was at its path.
  CREATE TABLE file (identity TEXT NOT NULL);
  INSERT INTO file VALUES (hex(randomblob(8)));
  `,
  `
  -- The call that reserved it with work in hand, 0 for others; and each executor's last such call.
  ALTER TABLE claims ADD COLUMN ahead INTEGER NOT NULL DEFAULT 0;
  CREATE TABLE progress (
    node TEXT NOT NULL,
    executor TEXT NOT NULL,
    ahead INTEGER NOT NULL,
    PRIMARY KEY (node, executor)
  ) WITHOUT ROWID;
  `,
];

export const schemaVersion = migrations.length;

/** The version of an open file; a new file has 0. */
export function versionOf(database: Database): number {
  return database.query<{ user_version: number }, []>("PRAGMA user_version").get()?.user_version ?? 0;
}

/** Whether the file is empty or one of ours. */
export function isOurs(database: Database): boolean {
  const found = database.query<{ application_id: number }, []>("PRAGMA application_id").get()?.application_id;
  if (found === applicationId) return true;
  return database.query("SELECT name FROM sqlite_schema LIMIT 1").get() === null;
}

/** What tells an up-to-date file from any other. */
export function identityOf(database: Database): string {
  return database.query<{ identity: string }, []>("SELECT identity FROM file").get()?.identity ?? "";
}

/** Brings the file to the present schema; other processes wait meanwhile, and find it done. */
export function migrate(database: Database): void {
  if (versionOf(database) === schemaVersion) return;
  database.run("BEGIN IMMEDIATE");
  try {
    database.run(`PRAGMA application_id = ${applicationId}`);
    for (let version = versionOf(database); version < schemaVersion; version++) {
      database.run(migrations[version] ?? "");
      database.run(`PRAGMA user_version = ${version + 1}`);
    }
    database.run("COMMIT");
  } catch (error) {
    database.run("ROLLBACK");
    throw error;
  }
}
