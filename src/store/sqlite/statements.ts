import type { Database, SQLQueryBindings } from "bun:sqlite";
import { jobState, timed } from "./schema.ts";

const { ready, planned, retrying, discarded, claimed } = jobState;

/** Rows that one statement inserts: a call costs more than a row. */
export const rowsPerInsert = 8;

/** Channel, time and barrier are the same for all; then id and payload of each. */
const readyRows = Array.from(
  { length: rowsPerInsert },
  (_, row) => `(?1, ${ready}, ?2, ?${4 + row * 2}, ?3, ?${5 + row * 2})`,
).join(", ");

const readyJobs = `SELECT seq, id, barrier, payload FROM jobs
  WHERE state = ${ready} AND channel = abs(?) ORDER BY at, seq`;

const dueJobs = (state: number) =>
  `SELECT seq, payload FROM jobs WHERE state = ${state} AND ${timed} AND at <= abs(?) ORDER BY at, seq`;

/** A claim whose row is gone, which only a hand in the file can bring about, has no channel. */
const fullClaims = `SELECT claims.*, channels.name AS channel FROM claims
  LEFT JOIN jobs ON jobs.seq = claims.seq AND jobs.state = ${claimed}
  LEFT JOIN channels ON channels.id = jobs.channel`;

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
    pausedChannels: db.query<{ id: number }, []>("SELECT id FROM channels WHERE paused = 1"),
    // jobs
    insertJob: db.query<unknown, [number, number, number, string, string | null, string | Uint8Array]>(
      "INSERT INTO jobs (channel, state, at, id, barrier, payload) VALUES (?, ?, ?, ?, ?, ?)",
    ),
    insertReady: db.query<unknown, SQLQueryBindings[]>(
      `INSERT INTO jobs (channel, state, at, id, barrier, payload) VALUES ${readyRows}`,
    ),
    deleteJob: db.query<unknown, [number]>(`DELETE FROM jobs WHERE seq = ? AND state = ${claimed}`),
    channelOf: db.query<{ channel: number }, [number]>("SELECT channel FROM jobs WHERE seq = ?"),
    payload: db.query<{ payload: string | Uint8Array }, [number]>("SELECT payload FROM jobs WHERE seq = ?"),
    oldestReady: db.query<ReadyRow, [number]>(`${readyJobs} LIMIT 1`),
    readyJobs: db.query<ReadyRow, [number]>(readyJobs),
    hasReady: db.query<{ seq: number }, [number]>(
      `SELECT seq FROM jobs WHERE state = ${ready} AND channel = ? LIMIT 1`,
    ),
    claimJob: db.query<unknown, [number]>(`UPDATE jobs SET state = ${claimed} WHERE seq = ?`),
    takeJob: db.query<unknown, [number]>(`DELETE FROM jobs WHERE seq = ? AND state = ${ready}`),
    requeueJob: db.query<unknown, [number]>(
      `UPDATE jobs SET state = ${ready} WHERE seq = ? AND state = ${claimed}`,
    ),
    settleJob: db.query<unknown, [number, number, number, string | Uint8Array, number]>(
      `UPDATE jobs SET state = ?, at = ?, channel = ?, payload = ? WHERE seq = ? AND state = ${claimed}`,
    ),
    promoteJob: db.query<unknown, [number, string | Uint8Array, number]>(
      `UPDATE jobs SET state = ${ready}, at = ?, payload = ? WHERE seq = ?`,
    ),
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
    // claims
    claimsOf: db.query<ClaimRow, [string, string]>(
      "SELECT slot, token, seq FROM claims WHERE node = ? AND executor = ?",
    ),
    claim: db.query<ClaimRow, [string, string, number]>(
      "SELECT slot, token, seq FROM claims WHERE node = ? AND executor = ? AND slot = ?",
    ),
    addClaim: db.query<unknown, [string, string, number, string, number, string, number, number, number]>(
      "REPLACE INTO claims (node, executor, slot, token, seq, id, claimed_at, attempt, ahead) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
    ),
    setAhead: db.query<unknown, [string, string, number]>(
      "INSERT INTO progress VALUES (?, ?, ?) ON CONFLICT (node, executor) DO UPDATE SET ahead = excluded.ahead",
    ),
    lastAhead: db.query<{ ahead: number }, [string, string]>(
      "SELECT ahead FROM progress WHERE node = ? AND executor = ?",
    ),
    deleteProgress: db.query<unknown, [string]>("DELETE FROM progress WHERE node = ?"),
    deleteClaim: db.query<unknown, [string, string, number]>(
      "DELETE FROM claims WHERE node = ? AND executor = ? AND slot = ?",
    ),
    noteCrash: db.query<unknown, [string, string, number]>(
      "UPDATE claims SET crashed = 1 WHERE node = ? AND executor = ? AND slot = ?",
    ),
    claimsOfExecutor: db.query<FullClaimRow, [string, string]>(
      `${fullClaims} WHERE node = ? AND executor = ? ORDER BY slot`,
    ),
    claimsOfNode: db.query<FullClaimRow, [string, number]>(`${fullClaims} WHERE node = ? LIMIT ?`),
    claimOwners: db.query<{ node: string; executor: string }, []>(
      `SELECT DISTINCT node, executor FROM claims
       WHERE NOT EXISTS (SELECT 1 FROM nodes WHERE identity = node)`,
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
    generation: db.query<{ generation: string }, [string, string]>(
      "SELECT generation FROM generations WHERE node = ? AND executor = ?",
    ),
    setGeneration: db.query<unknown, [string, string, string]>(
      "INSERT INTO generations VALUES (?, ?, ?) ON CONFLICT (node, executor) DO UPDATE SET generation = excluded.generation",
    ),
    deleteGeneration: db.query<unknown, [string, string]>(
      "DELETE FROM generations WHERE node = ? AND executor = ?",
    ),
    deleteGenerations: db.query<unknown, [string]>("DELETE FROM generations WHERE node = ?"),
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

export interface ReadyRow {
  readonly seq: number;
  readonly id: string;
  readonly barrier: string | null;
  readonly payload: string | Uint8Array;
}

export interface DueRow {
  readonly seq: number;
  readonly payload: string | Uint8Array;
}

export interface ClaimRow {
  readonly slot: number;
  readonly token: string;
  readonly seq: number;
}

export interface FullClaimRow extends ClaimRow {
  readonly executor: string;
  readonly id: string;
  readonly claimed_at: number;
  readonly attempt: number;
  readonly crashed: number;
  readonly ahead: number;
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
