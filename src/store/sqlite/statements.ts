import type { Database, SQLQueryBindings } from "bun:sqlite";
import { inBodies } from "./bodies.ts";
import { jobState, middlePlace, placeBits, slotBits, timed } from "./schema.ts";

const { planned, retrying, discarded } = jobState;

/** Claims that one call takes back. */
export const claimsPerStep = 100;

/** Rows that one statement inserts: a call costs more than a row. */
export const rowsPerInsert = 10;

/** Channel, first place, shape and barrier are the same for all; then id, time and payload of each. */
const readyRows = Array.from(
  { length: rowsPerInsert },
  (_, row) =>
    `((?1 << ${placeBits}) + ?2 + ${row}, ?3, ?4, ?${5 + row * 3}, ?${6 + row * 3}, ?${7 + row * 3})`,
).join(", ");

const place = `seq & ${2 ** placeBits - 1} AS place`;
const slot = `(key & ${2 ** slotBits - 1}) - 1 AS slot`;
/** The rows of the channel whose number is the first parameter. */
const inChannel = `seq >= (?1 << ${placeBits}) AND seq < ((?1 + 1) << ${placeBits})`;
const readyJobs = `SELECT ${place}, shape, ms, id, barrier, payload FROM ready WHERE ${inChannel} ORDER BY seq`;
/** The row behind the channel's last one. */
export const nextSeq = `coalesce(
  (SELECT seq + 1 FROM ready WHERE ${inChannel} ORDER BY seq DESC LIMIT 1), (?1 << ${placeBits}) + ${middlePlace})`;
/** The row before the first one of a claim's channel. */
const frontSeq = `coalesce(
  (SELECT seq - 1 FROM ready WHERE seq >= (claims.seq >> ${placeBits} << ${placeBits})
     AND seq < (((claims.seq >> ${placeBits}) + 1) << ${placeBits}) ORDER BY seq LIMIT 1),
  (claims.seq >> ${placeBits} << ${placeBits}) + ${middlePlace})`;

const dueJobs = (state: number) =>
  `SELECT seq, channel, id, barrier, payload FROM jobs WHERE state = ${state} AND ${timed} AND at <= abs(?)
   ORDER BY at, seq`;

/** A claim without a payload, which only a hand in the file can bring about, has lost its job. */
const fullClaims = `SELECT key, executor, ${slot}, token, ${place}, claims.id AS id, claimed_at, attempt, crashed, ahead, standing,
    (SELECT ahead FROM claims AS own WHERE own.key = executors.id << ${slotBits}) AS lastAhead,
    CASE WHEN payload IS NOT NULL THEN channels.name END AS channel
  FROM executors JOIN claims ON key > (executors.id << ${slotBits}) AND key < ((executors.id + 1) << ${slotBits})
  LEFT JOIN channels ON channels.id = claims.seq >> ${placeBits}`;

/**
 * One thread's prepared statements, each named and prepared once.
 *
 * SQLite looks into a parameter that it compares in a statement with ORDER BY, or that stands after LIMIT,
 * and compiles the statement anew at every new value: ten times the cost of the query itself. So the hot
 * ones hide their parameter in `abs()` and have no LIMIT parameter; their reader stops in time.
 */
export function prepare(db: Database) {
  return {
    // channels
    channelId: db.query<{ id: number }, [string]>("SELECT id FROM channels WHERE name = ?"),
    addChannel: db.query<{ id: number }, [string]>(
      "INSERT INTO channels (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING id",
    ),
    channelName: db.query<{ name: string }, [number]>("SELECT name FROM channels WHERE id = ?"),
    /** With a 0, which no channel has, where there are suspects: so that they cost no statement of their own. */
    pausedChannels: db.query<{ id: number }, []>(
      "SELECT id FROM channels WHERE paused = 1 UNION ALL SELECT 0 WHERE EXISTS (SELECT 1 FROM suspects)",
    ),
    // shapes and bodies
    shape: db.query<ShapeRow, [number]>("SELECT * FROM shapes WHERE id = ?"),
    shapeId: db.query<{ id: number }, [string, string, string]>(
      "SELECT id FROM shapes WHERE after_id = ? AND after_queued = ? AND after_created = ?",
    ),
    addShape: db.query<{ id: number }, [string, string, string, number]>(
      `INSERT INTO shapes (after_id, after_queued, after_created)
       SELECT ?, ?, ? WHERE (SELECT count(*) FROM shapes) < ? RETURNING id`,
    ),
    addBody: db.query<{ id: number }, [string | Uint8Array]>(
      "INSERT INTO bodies (payload) VALUES (?) RETURNING id",
    ),
    body: db.query<{ payload: string | Uint8Array }, [number]>("SELECT payload FROM bodies WHERE id = ?"),
    deleteBody: db.query<unknown, [number]>("DELETE FROM bodies WHERE id = ?"),
    // ready jobs
    lastPlace: db.query<{ place: number }, [number]>(
      `SELECT ${place} FROM ready WHERE ${inChannel} ORDER BY seq DESC LIMIT 1`,
    ),
    insertReady: db.query<unknown, ReadyBindings>(
      `INSERT INTO ready (seq, shape, barrier, id, ms, payload)
       VALUES ((?1 << ${placeBits}) + ?2, ?3, ?4, ?5, ?6, ?7)`,
    ),
    insertReadyRows: db.query<unknown, SQLQueryBindings[]>(
      `INSERT INTO ready (seq, shape, barrier, id, ms, payload) VALUES ${readyRows}`,
    ),
    oldestReady: db.query<ReadyRow, [number]>(`${readyJobs} LIMIT 1`),
    readyJobs: db.query<ReadyRow, [number]>(readyJobs),
    hasReady: db.query<{ seq: number }, [number]>(`SELECT 1 FROM ready WHERE ${inChannel} LIMIT 1`),
    takeReady: db.query<unknown, [number, number, number]>(
      `DELETE FROM ready WHERE seq BETWEEN (?1 << ${placeBits}) + ?2 AND (?1 << ${placeBits}) + ?3`,
    ),
    // jobs that wait for their time, and the archive
    insertJob: db.query<unknown, [number, number, number, string, string | null, string | Uint8Array]>(
      "INSERT INTO jobs (channel, state, at, id, barrier, payload) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    /** A claimed one with another payload; without a channel it keeps its own. */
    moveClaimed: db.query<unknown, [number | null, number, number, string | Uint8Array, number]>(
      `INSERT INTO jobs (channel, state, at, id, payload)
       SELECT coalesce(?1, seq >> ${placeBits}), ?2, ?3, id, ?4 FROM claims WHERE key = ?5 AND payload IS NOT NULL`,
    ),
    promoteJob: db.query<unknown, [number, number | null, string, string | null, Stored]>(
      `INSERT INTO ready (seq, shape, id, barrier, payload) SELECT ${nextSeq}, ?2, ?3, ?4, ?5`,
    ),
    deleteJob: db.query<unknown, [number]>("DELETE FROM jobs WHERE seq = ?"),
    plannedDue: db.query<DueRow, [number]>(dueJobs(planned)),
    retriesDue: db.query<DueRow, [number]>(dueJobs(retrying)),
    soonest: db.query<{ at: number | null }, []>(
      `SELECT min(at) AS at FROM (
         SELECT min(at) AS at FROM jobs WHERE state = ${planned} AND ${timed} UNION ALL
         SELECT min(at) AS at FROM jobs WHERE state = ${retrying} AND ${timed})`,
    ),
    trimByAge: db.query<unknown, [number]>(
      `DELETE FROM jobs WHERE seq IN (
         SELECT seq FROM jobs WHERE state = ${discarded} AND ${timed} AND at < ? ORDER BY at LIMIT 20)`,
    ),
    countArchive: db.query<{ n: number }, []>(
      `SELECT count(*) AS n FROM jobs WHERE state = ${discarded} AND ${timed}`,
    ),
    trimOldest: db.query<unknown, [number]>(
      `DELETE FROM jobs WHERE seq IN (
         SELECT seq FROM jobs WHERE state = ${discarded} AND ${timed} ORDER BY at, seq LIMIT ?)`,
    ),
    // executors and their claims
    executorId: db.query<{ id: number }, [string, string]>(
      "SELECT id FROM executors WHERE node = ? AND executor = ?",
    ),
    addExecutor: db.query<{ id: number }, [string, string]>(
      "INSERT INTO executors (node, executor) VALUES (?, ?) RETURNING id",
    ),
    executors: db.query<{ id: number }, [string]>("SELECT id FROM executors WHERE node = ?"),
    deleteExecutors: db.query<unknown, [string]>("DELETE FROM executors WHERE node = ?"),
    generation: db.query<{ token: string | null }, [number]>("SELECT token FROM claims WHERE key = ?"),
    setGeneration: db.query<unknown, [number, string | null]>(
      `INSERT INTO claims (key, token, processed, failed) VALUES (?, ?, 0, 0)
       ON CONFLICT (key) DO UPDATE SET token = excluded.token`,
    ),
    retire: db.query<unknown, [number]>("UPDATE claims SET token = NULL WHERE key = ?"),
    /** Counts what an executor has settled, and notes its call with work in hand when it has this generation. */
    countSettled: db.query<{ token: string | null }, [number, number, number, number | null, string]>(
      `UPDATE claims SET processed = processed + ?2, failed = failed + ?3,
         ahead = CASE WHEN token = ?5 THEN coalesce(?4, ahead) ELSE ahead END
       WHERE key = ?1 RETURNING token`,
    ),
    settled: db.query<{ processed: number; failed: number }, [number]>(
      "SELECT processed, failed FROM claims WHERE key = ?",
    ),
    claimsBetween: db.query<ClaimRow, [number, number]>(
      `SELECT ${slot}, token, standing, payload IS NULL AS isLost, CASE WHEN shape = ${inBodies} THEN payload END AS body
       FROM claims WHERE key BETWEEN ? AND ?`,
    ),
    claim: db.query<{ token: string; id: string; payload: string | Uint8Array | null }, [number]>(
      "SELECT token, claimed_jobs.id, claimed_jobs.payload FROM claims JOIN claimed_jobs USING (key) WHERE key = ?",
    ),
    placeOf: db.query<{ place: number }, [number]>(`SELECT ${place} FROM claims WHERE key = ?`),
    /** Of a ready job, in place of what the slot held before. */
    addClaim: db.query<unknown, [number, string, number, number, number | null, number, number]>(
      `REPLACE INTO claims (key, token, claimed_at, attempt, ahead, seq, shape, ms, id, payload)
       SELECT ?1, ?2, ?3, ?4, ?5, seq, shape, ms, id, payload FROM ready WHERE seq = (?6 << ${placeBits}) + ?7`,
    ),
    deleteClaim: db.query<unknown, [number]>("DELETE FROM claims WHERE key = ?"),
    /** A claimed job comes to the head of its channel. */
    requeueClaimed: db.query<unknown, [number]>(
      `INSERT INTO ready (seq, shape, ms, id, payload)
       SELECT ${frontSeq}, shape, ms, id, payload FROM claims WHERE key = ? AND payload IS NOT NULL`,
    ),
    /** A claimed job as it is, into the retries. */
    postponeClaimed: db.query<unknown, [number, number]>(
      `INSERT INTO jobs (channel, state, at, id, payload)
       SELECT seq >> ${placeBits}, ${retrying}, ?, id, payload FROM claimed_jobs WHERE key = ?`,
    ),
    idOfClaimed: db.query<{ id: string | null }, [number]>("SELECT id FROM claims WHERE key = ?"),
    setStanding: db.query<unknown, [number, number]>("UPDATE claims SET standing = ? WHERE key = ?"),
    noteCrash: db.query<unknown, [number]>("UPDATE claims SET crashed = 1 WHERE key = ?"),
    claimsOfExecutor: db.query<FullClaimRow, [string, string]>(
      `${fullClaims} WHERE node = ? AND executor = ?`,
    ),
    claimsOfNode: db.query<FullClaimRow, [string]>(`${fullClaims} WHERE node = ? LIMIT ${claimsPerStep}`),
    claimOwners: db.query<{ node: string; executor: string }, []>(
      `SELECT node, executor FROM executors
       WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE identity = node) AND EXISTS (
         SELECT 1 FROM claims WHERE key > (executors.id << ${slotBits}) AND key < ((executors.id + 1) << ${slotBits}))`,
    ),
    // counters, barriers, crashes
    count: db.query<unknown, [number, string]>("UPDATE counters SET value = value + ? WHERE name = ?"),
    addBarrier: db.query<unknown, [string, number]>(
      "INSERT INTO barriers VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET expires_at = excluded.expires_at",
    ),
    dropBarrier: db.query<unknown, [string]>("DELETE FROM barriers WHERE id = ?"),
    dropOldBarriers: db.query<unknown, [number]>(
      "DELETE FROM barriers WHERE id IN (SELECT id FROM barriers WHERE expires_at < ? LIMIT 100)",
    ),
    barrier: db.query<{ id: string }, [string, number]>(
      "SELECT id FROM barriers WHERE id = ? AND expires_at > ?",
    ),
    countCrash: db.query<{ count: number }, [string, number]>(
      `INSERT INTO crashes VALUES (?, 1, ?) ON CONFLICT (id)
       DO UPDATE SET count = count + 1, expires_at = excluded.expires_at RETURNING count`,
    ),
    crashes: db.query<{ count: number }, [string]>("SELECT count FROM crashes WHERE id = ?"),
    dropCrashes: db.query<unknown, [string]>("DELETE FROM crashes WHERE id = ?"),
    /** What is poison stays so. */
    suspect: db.query<unknown, [string, number, number, number]>(
      `INSERT INTO suspects (id, crashes, alone, expires_at) VALUES (?, ?, ?, ?) ON CONFLICT (id) DO UPDATE SET
         crashes = excluded.crashes, alone = max(alone, excluded.alone), waits = 0, expires_at = excluded.expires_at`,
    ),
    suspicion: db.query<SuspicionRow, [string]>("SELECT crashes, alone, waits FROM suspects WHERE id = ?"),
    countWait: db.query<unknown, [string]>("UPDATE suspects SET waits = waits + 1 WHERE id = ?"),
    acquit: db.query<unknown, [string]>("DELETE FROM suspects WHERE id = ?"),
    dropOldSuspects: db.query<unknown, [number]>(
      "DELETE FROM suspects WHERE id IN (SELECT id FROM suspects WHERE expires_at < ? LIMIT 100)",
    ),
    dropOldCrashes: db.query<unknown, [number]>(
      "DELETE FROM crashes WHERE id IN (SELECT id FROM crashes WHERE expires_at < ? LIMIT 100)",
    ),
    // nodes
    node: db.query<NodeRow, [string]>("SELECT * FROM nodes WHERE identity = ?"),
    nodes: db.query<{ identity: string; info: string }, []>("SELECT identity, info FROM nodes"),
    addNode: db.query<unknown, [string, string, number, number, number]>(
      "INSERT INTO nodes (identity, info, beat, beating_since, concurrency) VALUES (?, ?, ?, ?, ?)",
    ),
    beat: db.query<unknown, [number, number, number, number, string]>(
      "UPDATE nodes SET beat = ?, beating_since = ?, busy = ?, quiet = ? WHERE identity = ?",
    ),
    markDead: db.query<unknown, [number, string]>("UPDATE nodes SET dead = ? WHERE identity = ?"),
    deleteNode: db.query<unknown, [string]>("DELETE FROM nodes WHERE identity = ?"),
    addSignal: db.query<unknown, [string, string, number]>(
      "INSERT INTO signals (node, signal, expires_at) VALUES (?, ?, ?)",
    ),
    signals: db.query<{ seq: number; signal: string; expires_at: number }, [string]>(
      "SELECT seq, signal, expires_at FROM signals WHERE node = ? ORDER BY seq LIMIT 10",
    ),
    deleteSignal: db.query<unknown, [number]>("DELETE FROM signals WHERE seq = ?"),
    deleteSignals: db.query<unknown, [string]>("DELETE FROM signals WHERE node = ?"),
    addRunning: db.query<unknown, [string, string, number, string]>(
      "INSERT INTO running VALUES (?, ?, ?, ?)",
    ),
    deleteRunning: db.query<unknown, [string, string]>("DELETE FROM running WHERE node = ? AND executor = ?"),
    deleteRunningOfNode: db.query<unknown, [string]>("DELETE FROM running WHERE node = ?"),
    dataVersion: db.query<{ data_version: number }, []>("PRAGMA data_version"),
  };
}

export type Statements = ReturnType<typeof prepare>;

/** A part of an envelope, all of it, or the id of its body. */
type Stored = string | Uint8Array | number;

/** Channel, place, shape, barrier, id, time and payload. */
type ReadyBindings = [number, number, number | null, string | null, string, number | null, Stored];

/** The job of a row in `ready` or `claims`, see `shapes.ts`. */
export interface ShapedRow {
  readonly shape: number | null;
  readonly ms: number | null;
  readonly id: string;
  readonly payload: Stored;
}

export interface ReadyRow extends ShapedRow {
  readonly place: number;
  readonly barrier: string | null;
}

export interface ShapeRow {
  readonly id: number;
  readonly after_id: string;
  readonly after_queued: string;
  readonly after_created: string;
}

export interface DueRow {
  readonly seq: number;
  readonly channel: number;
  readonly id: string;
  readonly barrier: string | null;
  readonly payload: string | Uint8Array;
}

export interface ClaimRow {
  readonly slot: number;
  readonly token: string;
  /** See `schema.ts`. */
  readonly standing: number | null;
  /** 1: its job is not there any more. */
  readonly isLost: number;
  /** Where the job's envelope is, when it is large. */
  readonly body: number | null;
}

export interface SuspicionRow {
  readonly crashes: number;
  readonly alone: number;
  readonly waits: number;
}

export interface FullClaimRow {
  readonly key: number;
  readonly executor: string;
  readonly slot: number;
  readonly token: string;
  /** Its place in its channel when it was reserved. */
  readonly place: number;
  readonly id: string;
  readonly claimed_at: number;
  readonly attempt: number;
  readonly crashed: number | null;
  /** See `schema.ts`. */
  readonly standing: number | null;
  /** The call that reserved it with work in hand, and its executor's last such call. */
  readonly ahead: number | null;
  readonly lastAhead: number | null;
  /** Null: its job is not there any more. */
  readonly channel: string | null;
}

export interface NodeRow {
  readonly identity: string;
  readonly info: string;
  readonly beat: number;
  readonly beating_since: number;
  readonly dead: number | null;
}
