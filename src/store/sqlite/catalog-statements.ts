import type { Database } from "bun:sqlite";
import type { EntrySet } from "../catalog-store.ts";
import { inBodies } from "./bodies.ts";
import { jobState, placeBits, slotBits, timed } from "./schema.ts";
import { nextSeq } from "./statements.ts";

const { planned, retrying, discarded } = jobState;

/** The ready rows of the channel whose number is the first parameter. */
const inChannel = `seq >= (?1 << ${placeBits}) AND seq < ((?1 + 1) << ${placeBits})`;
const readyEntry = `SELECT ?1 AS channel, seq & ${2 ** placeBits - 1} AS seq, 0 AS at, id,
  octet_length(payload) AS bytes FROM ready_jobs`;
const slot = `(key & ${2 ** slotBits - 1}) - 1`;
const strayRows = "SELECT key, id, octet_length(payload) AS bytes FROM claimed_jobs";
const claimRows = `SELECT key, executor, ${slot} AS slot, token, claims.id AS id, claimed_at, attempt,
    (SELECT name FROM channels WHERE channels.id = seq >> ${placeBits}) AS channel,
    (SELECT octet_length(payload) FROM claimed_jobs WHERE claimed_jobs.key = claims.key) AS bytes
  FROM executors JOIN claims ON key > (executors.id << ${slotBits}) AND key < ((executors.id + 1) << ${slotBits})`;

/** The statements of inspection and administration, prepared once for each connection. */
export function prepareCatalog(db: Database) {
  return {
    counters: db.query<{ name: string; value: number }, []>("SELECT name, value FROM counters"),
    /** By the executors of present nodes. */
    settled: db.query<{ processed: number; failed: number }, []>(
      `SELECT coalesce(sum(processed), 0) AS processed, coalesce(sum(failed), 0) AS failed
       FROM executors JOIN claims ON key = executors.id << ${slotBits}`,
    ),
    countChannels: db.query<{ n: number }, []>("SELECT count(*) AS n FROM channels"),
    countNodes: db.query<{ n: number }, []>("SELECT count(*) AS n FROM nodes"),
    // channels
    channels: db.query<ChannelRow, [number, number]>(
      "SELECT id, name, paused FROM channels WHERE id > ? ORDER BY id LIMIT ?",
    ),
    channel: db.query<{ id: number }, [string]>("SELECT id FROM channels WHERE name = ?"),
    addChannel: db.query<{ id: number }, [string]>(
      "INSERT INTO channels (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING id",
    ),
    setPaused: db.query<unknown, [number, string, number]>(
      "UPDATE channels SET paused = ? WHERE name = ? AND paused = ?",
    ),
    countReady: db.query<{ n: number }, [number]>(`SELECT count(*) AS n FROM ready WHERE ${inChannel}`),
    /** The ready job that runs next. */
    nextJob: db.query<{ seq: number; bytes: number; head: Uint8Array }, [number]>(
      `SELECT seq & ${2 ** placeBits - 1} AS seq, octet_length(payload) AS bytes,
         substr(CAST(payload AS BLOB), 1, 1024) AS head
       FROM ready_jobs WHERE ${inChannel} ORDER BY ready_jobs.seq LIMIT 1`,
    ),
    // entries
    readyFromNewest: db.query<EntryRow, [number, number, number]>(
      `${readyEntry} WHERE seq >= (?1 << ${placeBits}) AND seq < (?1 << ${placeBits}) + ?2
       ORDER BY ready_jobs.seq DESC LIMIT ?3`,
    ),
    readyFromOldest: db.query<EntryRow, [number, number]>(
      `${readyEntry} WHERE ${inChannel} ORDER BY ready_jobs.seq LIMIT ?2`,
    ),
    sets: {
      planned: prepareSet(db, planned),
      retrying: prepareSet(db, retrying),
      discarded: prepareSet(db, discarded),
    } satisfies Record<EntrySet, SetStatements>,
    entry: db.query<EntryRow & { state: number }, [number]>(
      "SELECT seq, at, id, state, octet_length(payload) AS bytes FROM jobs WHERE seq = ?",
    ),
    contents: {
      jobs: prepareContent(db, "jobs WHERE seq = (?1 << 0) + ?2"),
      ready: prepareContent(db, `ready_jobs WHERE seq = (?1 << ${placeBits}) + ?2`),
      claims: prepareContent(db, "claimed_jobs WHERE key = (?1 << 0) + ?2"),
    },
    deleteJob: db.query<unknown, [number]>("DELETE FROM jobs WHERE seq = ?"),
    dropCrashes: db.query<unknown, [string]>("DELETE FROM crashes WHERE id = ?"),
    acquit: db.query<unknown, [string]>("DELETE FROM suspects WHERE id = ?"),
    deleteReady: db.query<{ body: number | null }, [number, number]>(
      `DELETE FROM ready WHERE seq = (? << ${placeBits}) + ?
       RETURNING CASE WHEN shape = ${inBodies} THEN payload END AS body`,
    ),
    addBody: db.query<{ id: number }, [string | Uint8Array]>(
      "INSERT INTO bodies (payload) VALUES (?) RETURNING id",
    ),
    deleteBody: db.query<unknown, [number]>("DELETE FROM bodies WHERE id = ?"),
    /** Behind those that are ready. */
    requeue: db.query<unknown, [number, number | null, string | Uint8Array | number, number]>(
      `INSERT INTO ready (seq, shape, id, barrier, payload)
       SELECT ${nextSeq}, ?2, id, barrier, ?3 FROM jobs WHERE jobs.seq = ?4`,
    ),
    // nodes
    nodes: db.query<NodeRow, [string, number]>(
      "SELECT * FROM nodes WHERE identity > ? ORDER BY identity LIMIT ?",
    ),
    node: db.query<{ identity: string }, [string]>("SELECT identity FROM nodes WHERE identity = ?"),
    addSignal: db.query<unknown, [string, string, number]>(
      "INSERT INTO signals (node, signal, expires_at) VALUES (?, ?, ?)",
    ),
    trimSignals: db.query<unknown, [string, string, number]>(
      `DELETE FROM signals WHERE node = ? AND seq NOT IN (
         SELECT seq FROM signals WHERE node = ? ORDER BY seq DESC LIMIT ?)`,
    ),
    running: db.query<{ executor: string; slot: number; job: string }, [string, string, number, number]>(
      `SELECT executor, slot, job FROM running
       WHERE node = ? AND (executor, slot) > (?, ?) ORDER BY executor, slot LIMIT ?`,
    ),
    // claims
    claims: db.query<ClaimRow, [string, string, number, number]>(
      `${claimRows} WHERE node = ? AND (executor, ${slot}) > (?, ?) ORDER BY executor, key LIMIT ?`,
    ),
    claim: db.query<ClaimRow, [string, string, number]>(
      `${claimRows} WHERE node = ? AND executor = ? AND key = (executors.id << ${slotBits}) + 1 + ?`,
    ),
    claimOwners: db.query<{ node: string }, []>(
      `SELECT DISTINCT node FROM executors WHERE EXISTS (
         SELECT 1 FROM claims WHERE key > (executors.id << ${slotBits}) AND key < ((executors.id + 1) << ${slotBits}))`,
    ),
    /** Claims of nobody, which only a hand in the file can bring about. */
    strays: db.query<StrayRow, [number, number]>(
      `${strayRows} WHERE key > ? AND NOT EXISTS (SELECT 1 FROM executors WHERE executors.id = key >> ${slotBits})
       ORDER BY key LIMIT ?`,
    ),
    stray: db.query<StrayRow, [number]>(
      `${strayRows} WHERE key = ? AND NOT EXISTS (SELECT 1 FROM executors WHERE executors.id = key >> ${slotBits})`,
    ),
  };
}

export type CatalogStatements = ReturnType<typeof prepareCatalog>;

function prepareSet(db: Database, state: number) {
  const rows = `FROM jobs WHERE state = ${state} AND ${timed}`;
  const columns = "seq, at, id, octet_length(payload) AS bytes";
  return {
    state,
    count: db.query<{ n: number }, []>(`SELECT count(*) AS n ${rows}`),
    after: db.query<EntryRow, [number, number, number]>(
      `SELECT ${columns} ${rows} AND (at, seq) > (?, ?) ORDER BY at, seq LIMIT ?`,
    ),
    from: db.query<EntryRow, [number, number]>(`SELECT ${columns} ${rows} ORDER BY at, seq LIMIT ? OFFSET ?`),
  };
}

function prepareContent(db: Database, row: string) {
  return {
    payload: db.query<{ payload: string | Uint8Array }, [number, number]>(`SELECT payload FROM ${row}`),
    /** Parts of a payload that is too large to be shown: its beginning and its last byte. */
    ends: db.query<{ head: Uint8Array; tail: Uint8Array }, [number, number, number]>(
      `SELECT substr(CAST(payload AS BLOB), 1, ?3) AS head, substr(CAST(payload AS BLOB), -1) AS tail FROM ${row}`,
    ),
  };
}

export type SetStatements = ReturnType<typeof prepareSet>;

export interface ChannelRow {
  readonly id: number;
  readonly name: string;
  readonly paused: number;
}

/** A job's row without its payload. */
export interface EntryRow {
  /** Of a ready one: its channel's number, and as `seq` its place in it. */
  readonly channel?: number;
  readonly seq: number;
  readonly at: number;
  readonly id: string;
  readonly bytes: number;
}

export interface NodeRow {
  readonly identity: string;
  readonly info: string;
  readonly beat: number;
  readonly busy: number;
  readonly quiet: number;
  readonly concurrency: number;
  readonly dead: number | null;
}

export interface ClaimRow {
  readonly key: number;
  readonly executor: string;
  readonly slot: number;
  readonly token: string;
  readonly id: string;
  readonly claimed_at: number;
  readonly attempt: number;
  readonly channel: string | null;
  /** Null: its job is not there any more. */
  readonly bytes: number | null;
}

export interface StrayRow {
  readonly key: number;
  readonly id: string;
  readonly bytes: number;
}
