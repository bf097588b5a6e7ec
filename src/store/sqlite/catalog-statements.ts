import type { Database } from "bun:sqlite";
import type { EntrySet } from "../catalog-store.ts";
import { jobState, timed } from "./schema.ts";

const { ready, planned, retrying, discarded } = jobState;

/** The statements of inspection and administration, prepared once for each connection. */
export function prepareCatalog(db: Database) {
  return {
    counters: db.query<{ name: string; value: number }, []>("SELECT name, value FROM counters"),
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
    countReady: db.query<{ n: number }, [number]>(
      `SELECT count(*) AS n FROM jobs WHERE state = ${ready} AND channel = ?`,
    ),
    /** The ready job that runs next. */
    nextJob: db.query<{ seq: number; bytes: number; head: Uint8Array }, [number]>(
      `SELECT seq, octet_length(payload) AS bytes, substr(CAST(payload AS BLOB), 1, 1024) AS head
       FROM jobs WHERE state = ${ready} AND channel = ? ORDER BY at, seq LIMIT 1`,
    ),
    // entries
    readyFromNewest: db.query<EntryRow, [number, number, number, number]>(
      `SELECT seq, at, id, octet_length(payload) AS bytes FROM jobs
       WHERE state = ${ready} AND channel = ? AND (at, seq) < (?, ?) ORDER BY at DESC, seq DESC LIMIT ?`,
    ),
    readyFromOldest: db.query<EntryRow, [number, number]>(
      `SELECT seq, at, id, octet_length(payload) AS bytes FROM jobs
       WHERE state = ${ready} AND channel = ? ORDER BY at, seq LIMIT ?`,
    ),
    sets: {
      planned: prepareSet(db, planned),
      retrying: prepareSet(db, retrying),
      discarded: prepareSet(db, discarded),
    } satisfies Record<EntrySet, SetStatements>,
    entry: db.query<EntryRow & { state: number }, [number]>(
      "SELECT seq, at, id, state, octet_length(payload) AS bytes FROM jobs WHERE seq = ?",
    ),
    payload: db.query<{ payload: string | Uint8Array }, [number]>("SELECT payload FROM jobs WHERE seq = ?"),
    /** Parts of a payload that is too large to be shown: its beginning and its last byte. */
    ends: db.query<{ head: Uint8Array; tail: Uint8Array }, [number, number]>(
      `SELECT substr(CAST(payload AS BLOB), 1, ?) AS head, substr(CAST(payload AS BLOB), -1) AS tail
       FROM jobs WHERE seq = ?`,
    ),
    deleteJob: db.query<unknown, [number]>("DELETE FROM jobs WHERE seq = ?"),
    /** As a new row, so that what is requeued together keeps its order. */
    requeue: db.query<unknown, [number, number, string | Uint8Array, number]>(
      `INSERT INTO jobs (channel, state, at, id, barrier, payload)
       SELECT ?, ${ready}, ?, id, barrier, ? FROM jobs WHERE seq = ?`,
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
      `SELECT executor, slot, token, seq, id, claimed_at, attempt FROM claims
       WHERE node = ? AND (executor, slot) > (?, ?) ORDER BY executor, slot LIMIT ?`,
    ),
    claim: db.query<ClaimRow, [string, string, number]>(
      `SELECT executor, slot, token, seq, id, claimed_at, attempt FROM claims
       WHERE node = ? AND executor = ? AND slot = ?`,
    ),
    channelOfJob: db.query<{ name: string }, [number]>(
      "SELECT channels.name FROM jobs JOIN channels ON channels.id = jobs.channel WHERE seq = ?",
    ),
    claimOwners: db.query<{ node: string }, []>("SELECT DISTINCT node FROM claims"),
    claimedSeqs: db.query<{ seq: number }, []>("SELECT seq FROM claims"),
    statesFrom: db.query<{ seq: number; state: number }, [number, number]>(
      "SELECT seq, state FROM jobs WHERE seq > ? ORDER BY seq LIMIT ?",
    ),
    isClaimed: db.query<{ seq: number }, [number]>("SELECT seq FROM claims WHERE seq = ? LIMIT 1"),
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

export type SetStatements = ReturnType<typeof prepareSet>;

export interface ChannelRow {
  readonly id: number;
  readonly name: string;
  readonly paused: number;
}

/** A job's row without its payload. */
export interface EntryRow {
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
  readonly executor: string;
  readonly slot: number;
  readonly token: string;
  readonly seq: number;
  readonly id: string;
  readonly claimed_at: number;
  readonly attempt: number;
}
