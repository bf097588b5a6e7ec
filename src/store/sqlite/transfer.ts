import type { Database } from "bun:sqlite";
import { isUtf8 } from "node:buffer";
import { readEntry } from "../entry-reading.ts";
import type {
  JournaledEntry,
  TransferEntry,
  TransferPage,
  TransferPlace,
  TransferStore,
} from "../transfer-store.ts";
import { inBodies, stored } from "./bodies.ts";
import { type Locator, locatorFrom, locatorText, rowCursorFrom, rowCursorText } from "./catalog-cursors.ts";
import { type FileOptions, SqliteFile } from "./file.ts";
import { jobState, placeBits, timed } from "./schema.ts";
import { nextSeq } from "./statements.ts";

const entriesPerCall = 500;
const bytesPerCall = 256 * 1024;
const forgottenPerCall = 5000;

/** Tables that only a move needs: they are made by the first one, and the journal goes with the last. */
const journalTable = `CREATE TABLE IF NOT EXISTS transfer_journal (
  journal TEXT NOT NULL, digest BLOB NOT NULL, count INTEGER NOT NULL, PRIMARY KEY (journal, digest)
) WITHOUT ROWID`;
const notesTable = `CREATE TABLE IF NOT EXISTS transfer_notes (
  journal TEXT NOT NULL, name TEXT NOT NULL, value TEXT NOT NULL, PRIMARY KEY (journal, name)
) WITHOUT ROWID`;

/** Jobs on their way out of or into the embedded engine's file, on a connection of its own. */
export class SqliteTransfer implements TransferStore {
  readonly identity: string;
  private readonly file: SqliteFile;

  /** Opens nothing: the first call does, and makes the file where there is none. */
  constructor(options: FileOptions) {
    this.identity = `sqlite:${options.path}`;
    this.file = new SqliteFile(options);
  }

  async close(): Promise<void> {
    this.file.close();
  }

  size(place: TransferPlace): Promise<number> {
    return this.read((database) => {
      if (place.state !== "ready") {
        const sql = `SELECT count(*) AS n FROM jobs WHERE state = ${jobState[place.state]} AND ${timed}`;
        return database.query<{ n: number }, []>(sql).get()?.n ?? 0;
      }
      const sql = `SELECT count(*) AS n FROM ready WHERE ${inChannel}`;
      return database.query<{ n: number }, [number]>(sql).get(knownId(database, place.channel))?.n ?? 0;
    });
  }

  async page(place: TransferPlace, cursor?: string): Promise<TransferPage> {
    const { at, seq } =
      cursor === undefined ? { at: Number.NEGATIVE_INFINITY, seq: -1 } : rowCursorFrom(cursor);
    return this.read((database) => {
      const rows = rowsAfter(database, place, { at, seq });
      const entries: TransferEntry[] = [];
      let bytes = 0;
      for (const row of rows) {
        if (entries.length > 0 && bytes + row.bytes > bytesPerCall) break;
        bytes += row.bytes;
        entries.push(entryOf(database, place, row));
      }
      const isEnd = entries.length === rows.length && rows.length < entriesPerCall;
      const last = rows[entries.length - 1];
      return { entries, cursor: isEnd || last === undefined ? undefined : rowCursorText(last) };
    });
  }

  add(place: TransferPlace, journal: string, entries: readonly JournaledEntry[]): Promise<number> {
    const publishing = entries.reduce((bytes, entry) => bytes + entry.bytes.length, 0);
    const add = (database: Database) => {
      database.run(journalTable);
      const insert = inserterFor(database, place);
      let added = 0;
      for (const entry of entries) {
        if (countOf(database, journal, entry.digest) >= entry.occurrence) continue;
        insert(entry);
        database
          .query(
            `INSERT INTO transfer_journal VALUES (?, ?, ?)
             ON CONFLICT (journal, digest) DO UPDATE SET count = excluded.count`,
          )
          .run(journal, entry.digest, entry.occurrence);
        added += 1;
      }
      return added;
    };
    return this.file.write(add, { publishing, onCommit: () => this.file.turns.tellNews() });
  }

  journaled(journal: string, digests: readonly Uint8Array[]): Promise<readonly number[]> {
    return this.read((database) => {
      if (!hasTable(database, "transfer_journal")) return digests.map(() => 0);
      return digests.map((digest) => countOf(database, journal, digest));
    });
  }

  remove(place: TransferPlace, entries: readonly TransferEntry[]): Promise<number> {
    return this.file.write((database) => {
      const remove = removerFor(database, place);
      return entries.reduce((removed, { mark }) => removed + remove(locatorFrom(mark)), 0);
    });
  }

  note(journal: string, name: string): Promise<string | undefined> {
    return this.read((database) => {
      if (!hasTable(database, "transfer_notes")) return undefined;
      const sql = "SELECT value FROM transfer_notes WHERE journal = ? AND name = ?";
      return database.query<{ value: string }, [string, string]>(sql).get(journal, name)?.value;
    });
  }

  setNote(journal: string, name: string, value: string | undefined): Promise<void> {
    return this.file.write((database) => {
      database.run(notesTable);
      if (value !== undefined) {
        database.query("REPLACE INTO transfer_notes VALUES (?, ?, ?)").run(journal, name, value);
        return;
      }
      database.query("DELETE FROM transfer_notes WHERE journal = ? AND name = ?").run(journal, name);
      dropWhenEmpty(database, "transfer_notes");
    });
  }

  forgetStep(journal: string): Promise<boolean> {
    return this.file.write((database) => {
      if (!hasTable(database, "transfer_journal")) return false;
      const { changes } = database
        .query(
          `DELETE FROM transfer_journal WHERE journal = ?1 AND digest IN (
             SELECT digest FROM transfer_journal WHERE journal = ?1 LIMIT ?2)`,
        )
        .run(journal, forgottenPerCall);
      if (changes === forgottenPerCall) return true;
      dropWhenEmpty(database, "transfer_journal");
      return false;
    });
  }

  /** All statements of one call see the file at one moment. */
  private read<T>(work: (database: Database) => T): Promise<T> {
    return this.file.read((database) => database.transaction(() => work(database))());
  }
}

/** The ready rows of the channel whose number is the first parameter. */
const inChannel = `seq >= (?1 << ${placeBits}) AND seq < ((?1 + 1) << ${placeBits})`;

interface JobRow {
  /** In `ready` its place in the channel. */
  readonly seq: number;
  readonly at: number;
  readonly id: string;
  readonly bytes: number;
}

function rowsAfter(
  database: Database,
  place: TransferPlace,
  { at, seq }: { at: number; seq: number },
): JobRow[] {
  if (place.state !== "ready") {
    const sql = `SELECT seq, at, id, octet_length(payload) AS bytes FROM jobs
      WHERE state = ${jobState[place.state]} AND ${timed} AND (at, seq) > (?, ?) ORDER BY at, seq LIMIT ?`;
    return database.query<JobRow, [number, number, number]>(sql).all(at, seq, entriesPerCall);
  }
  const sql = `SELECT seq & ${2 ** placeBits - 1} AS seq, 0 AS at, id, octet_length(payload) AS bytes
    FROM ready_jobs WHERE ${inChannel} AND seq > (?1 << ${placeBits}) + ?2 ORDER BY ready_jobs.seq LIMIT ?3`;
  return database
    .query<JobRow, [number, number, number]>(sql)
    .all(knownId(database, place.channel), seq, entriesPerCall);
}

function entryOf(database: Database, place: TransferPlace, row: JobRow): TransferEntry {
  const isReady = place.state === "ready";
  const sql = isReady
    ? `SELECT payload FROM ready_jobs WHERE seq = (?1 << ${placeBits}) + ?2`
    : "SELECT payload FROM jobs WHERE seq = ?1 + ?2";
  const channel = isReady ? knownId(database, place.channel) : 0;
  const found = database.query<{ payload: string | Uint8Array }, [number, number]>(sql).get(channel, row.seq);
  const payload = found?.payload ?? "";
  return {
    bytes: typeof payload === "string" ? Buffer.from(payload) : payload,
    at: row.at,
    mark: locatorText(row),
  };
}

/** Takes an entry away, unless another one stands where it was read. */
function removerFor(database: Database, place: TransferPlace): (entry: Locator) => number {
  if (place.state === "ready") {
    const remove = database.query<{ body: number | null }, [number, number, string]>(
      `DELETE FROM ready WHERE seq = (? << ${placeBits}) + ? AND id = ?
       RETURNING CASE WHEN shape = ${inBodies} THEN payload END AS body`,
    );
    const channel = knownId(database, place.channel);
    return ({ seq, id }) => {
      const removed = remove.get(channel, seq, id);
      if (typeof removed?.body === "number")
        database.query("DELETE FROM bodies WHERE id = ?").run(removed.body);
      return removed === null ? 0 : 1;
    };
  }
  const remove = database.query("DELETE FROM jobs WHERE seq = ? AND at = ? AND state = ?");
  return ({ seq, at }) => remove.run(seq, at, jobState[place.state]).changes;
}

/** Stores one entry after the other, in a channel behind all that are ready in it. */
function inserterFor(database: Database, place: TransferPlace): (entry: JournaledEntry) => void {
  if (place.state === "ready") {
    const insertReady = readyInserter(database, place.channel);
    return ({ bytes }) => {
      const { id, payload } = readBytes(bytes);
      insertReady(id, payload);
    };
  }
  const state = jobState[place.state];
  const insert = database.query("INSERT INTO jobs (channel, state, at, id, payload) VALUES (?, ?, ?, ?, ?)");
  return ({ bytes, at }) => {
    const { id, channel, payload } = readBytes(bytes);
    insert.run(channelId(database, channel), state, at, id, payload);
  };
}

function readBytes(bytes: Uint8Array): { id: string; channel: string; payload: string | Uint8Array } {
  const payload = isUtf8(bytes) ? Buffer.from(bytes).toString() : bytes;
  const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
  const { id = "", channel = "default" } = readEntry(text, { isWhole: true, bytes: bytes.length });
  return { id, channel, payload };
}

/** Makes the channel, should it not be there, also when nothing comes into it. */
function readyInserter(
  database: Database,
  channel: string,
): (id: string, payload: string | Uint8Array) => void {
  const number = channelId(database, channel);
  const addBody = database.query<{ id: number }, [string | Uint8Array]>(
    "INSERT INTO bodies (payload) VALUES (?) RETURNING id",
  );
  const insert = database.query(`INSERT INTO ready (seq, shape, id, payload) SELECT ${nextSeq}, ?2, ?3, ?4`);
  return (id, payload) => {
    const as = stored(addBody, payload);
    insert.run(number, as.shape, id, as.payload);
  };
}

/** 0, which no channel has, for one that is not stored. */
function knownId(database: Database, name: string): number {
  const sql = "SELECT id FROM channels WHERE name = ?";
  return database.query<{ id: number }, [string]>(sql).get(name)?.id ?? 0;
}

function channelId(database: Database, name: string): number {
  const sql =
    "INSERT INTO channels (name) VALUES (?) ON CONFLICT (name) DO UPDATE SET name = name RETURNING id";
  return database.query<{ id: number }, [string]>(sql).get(name)?.id ?? 0;
}

function countOf(database: Database, journal: string, digest: Uint8Array): number {
  const sql = "SELECT count FROM transfer_journal WHERE journal = ? AND digest = ?";
  return database.query<{ count: number }, [string, Uint8Array]>(sql).get(journal, digest)?.count ?? 0;
}

function hasTable(database: Database, name: string): boolean {
  return database.query("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== null;
}

function dropWhenEmpty(database: Database, table: string): void {
  if (database.query(`SELECT 1 FROM ${table} LIMIT 1`).get() === null) database.run(`DROP TABLE ${table}`);
}
