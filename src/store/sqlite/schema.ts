import type { Database } from "bun:sqlite";

/** The state of a row in `jobs`, which holds what waits for its time and what was archived. */
export const jobState = { planned: 3, retrying: 4, discarded: 5 } as const;

/**
 * A row of `ready` is found by its channel's number and its place in the channel: both make up its `seq`.
 * What is published stands behind the last one, what is put back before the first one; in an empty channel
 * places begin in the middle.
 */
export const placeBits = 43;
export const middlePlace = 2 ** (placeBits - 1);
/** Channels are numbered from 1 as their names come up; so many numbers leave room for places. */
export const maxChannels = 2 ** (63 - placeBits) - 1;

/** A row of `claims` is found by its executor's number and its slot; its slots' rows follow the executor's own. */
export const slotBits = 20;

/**
 * The condition of the index of those three. SQLite uses a partial index only where a query repeats its
 * condition word for word.
 */
export const timed = "state BETWEEN 3 AND 5";

/** The standing of a suspect's claim; other claims have none. */
export const standing = { waiting: 1, poison: 2, alone: 3 } as const;

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
  // Each page that a transaction writes costs it more than a dozen statements do. So ready jobs need no index,
  // a claim holds its job, an executor's row and its claims stand together, and what envelopes of one task
  // have in common is stored once. Claims of the former layout are put back: its programs cannot go on.
  `
  DROP INDEX jobs_ready;
  -- The text of an envelope, in order: {"id":"<id><after_id><ms><after_queued><ms><after_created><payload>}
  CREATE TABLE shapes (
    id INTEGER PRIMARY KEY,
    after_id TEXT NOT NULL,
    after_queued TEXT NOT NULL,
    after_created TEXT NOT NULL,
    UNIQUE (after_id, after_queued, after_created)
  );
  -- Large envelopes, which stay where they are while their jobs are claimed and put back.
  CREATE TABLE bodies (id INTEGER PRIMARY KEY, payload NOT NULL);
  -- seq: the channel's number * 2^43 + place. With a shape the payload is the text of the arguments and ms
  -- when it was published; with the shape 0 it is the id of a body; without one it is the whole envelope, and
  -- a BLOB when it is not UTF-8.
  CREATE TABLE ready (
    seq INTEGER PRIMARY KEY,
    shape INTEGER,
    ms INTEGER,
    id TEXT NOT NULL,
    barrier TEXT,
    payload NOT NULL
  );
  INSERT INTO bodies SELECT seq, payload FROM jobs WHERE state IN (2, 6) AND octet_length(payload) > 2048;
  INSERT INTO ready (seq, shape, id, barrier, payload)
    SELECT (channel << 43) + (1 << 42) + row_number() OVER (PARTITION BY channel ORDER BY at, jobs.seq),
      CASE WHEN bodies.id IS NOT NULL THEN 0 END, jobs.id, barrier, coalesce(bodies.id, jobs.payload)
    FROM jobs LEFT JOIN bodies ON bodies.id = jobs.seq WHERE state IN (2, 6);
  DELETE FROM jobs WHERE state IN (2, 6);
  CREATE TABLE executors (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    node TEXT NOT NULL,
    executor TEXT NOT NULL,
    UNIQUE (node, executor)
  );
  DROP TABLE claims;
  DROP TABLE generations;
  DROP TABLE progress;
  -- key: the executor's number * 2^20, + 1 + slot in a claim's row. An executor's own row has its generation,
  -- while it has one, as token, and what it has settled. ahead: in a claim's row the call that reserved it with
  -- work in hand, in the executor's the last such call. seq, shape, ms, id, payload: the job's, from ready.
  CREATE TABLE claims (
    key INTEGER PRIMARY KEY,
    token TEXT,
    processed INTEGER,
    failed INTEGER,
    claimed_at REAL,
    attempt INTEGER,
    crashed INTEGER, -- 1: this claim's crash is counted already
    ahead INTEGER,
    seq INTEGER,
    shape INTEGER,
    ms INTEGER,
    id TEXT,
    payload
  );
  CREATE VIEW ready_jobs AS
    SELECT seq, ready.id AS id, CASE WHEN shape IS NULL THEN ready.payload
      WHEN shape = 0 THEN (SELECT bodies.payload FROM bodies WHERE bodies.id = ready.payload)
      ELSE '{"id":"' || ready.id || after_id || ms || after_queued || ms || after_created || ready.payload || '}'
      END AS payload
    FROM ready LEFT JOIN shapes ON shapes.id = shape;
  CREATE VIEW claimed_jobs AS
    SELECT key, seq, claims.id AS id, CASE WHEN shape IS NULL THEN claims.payload
      WHEN shape = 0 THEN (SELECT bodies.payload FROM bodies WHERE bodies.id = claims.payload)
      ELSE '{"id":"' || claims.id || after_id || ms || after_queued || ms || after_created || claims.payload || '}'
      END AS payload
    FROM claims LEFT JOIN shapes ON shapes.id = shape WHERE claims.id IS NOT NULL;
  `,
  `
  -- 1: of a suspect, not begun; 2: of poison; 3: of a suspect that has begun, alone on its node; NULL: of others.
  ALTER TABLE claims ADD COLUMN standing INTEGER;
  -- alone: 1 when it died alone on its node: it is poison. waits: how often it was postponed.
  CREATE TABLE suspects (
    id TEXT PRIMARY KEY,
    crashes INTEGER NOT NULL,
    alone INTEGER NOT NULL,
    waits INTEGER NOT NULL DEFAULT 0,
    expires_at REAL NOT NULL
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

/** Brings the file to a version, by default the present one; others wait meanwhile, and find it done. */
export function migrate(database: Database, to = schemaVersion): void {
  if (versionOf(database) >= to) return;
  database.run("BEGIN IMMEDIATE");
  try {
    database.run(`PRAGMA application_id = ${applicationId}`);
    for (let version = versionOf(database); version < to; version++) {
      database.run(migrations[version] ?? "");
      database.run(`PRAGMA user_version = ${version + 1}`);
    }
    database.run("COMMIT");
  } catch (error) {
    database.run("ROLLBACK");
    throw error;
  }
}
