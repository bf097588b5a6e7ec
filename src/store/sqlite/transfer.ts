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
import { rowCursorFrom, rowCursorText } from "./catalog-cursors.ts";
import { type FileOptions, SqliteFile } from "./file.ts";
import { jobState, timed } from "./schema.ts";

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
      const count = "SELECT count(*) AS n FROM jobs WHERE state =";
      if (place.state !== "ready") {
        const sql = `${count} ${jobState[place.state]} AND ${timed}`;
        return database.query<{ n: number }, []>(sql).get()?.n ?? 0;
      }
      const sql = `${count} ${jobState.ready} AND channel = (SELECT id FROM channels WHERE name = ?)`;
      return database.query<{ n: number }, [string]>(sql).get(place.channel)?.n ?? 0;
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
    return this.file.write(add, { publishing, hasNews: () => true });
  }

  journaled(journal: string, digests: readonly Uint8Array[]): Promise<readonly number[]> {
    return this.read((database) => {
      if (!hasTable(database, "transfer_journal")) return digests.map(() => 0);
      return digests.map((digest) => countOf(database, journal, digest));
    });
  }

  remove(place: TransferPlace, entries: readonly TransferEntry[]): Promise<number> {
    return this.file.write((database) => {
      const remove = database.query("DELETE FROM jobs WHERE seq = ? AND at = ? AND state = ?");
      let removed = 0;
      for (const { mark } of entries) {
        const { at, seq } = rowCursorFrom(mark);
        removed += remove.run(seq, at, jobState[place.state]).changes;
      }
      return removed;
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

interface JobRow {
  readonly seq: number;
  readonly at: number;
  readonly bytes: number;
}

function rowsAfter(
  database: Database,
  place: TransferPlace,
  { at, seq }: { at: number; seq: number },
): JobRow[] {
  const columns = "SELECT seq, at, octet_length(payload) AS bytes FROM jobs";
  const rest = "(at, seq) > (?, ?) ORDER BY at, seq LIMIT ?";
  if (place.state !== "ready") {
    const sql = `${columns} WHERE state = ${jobState[place.state]} AND ${timed} AND ${rest}`;
    return database.query<JobRow, [number, number, number]>(sql).all(at, seq, entriesPerCall);
  }
  const sql = `${columns} WHERE state = ${jobState.ready} AND
    channel = (SELECT id FROM channels WHERE name = ?) AND ${rest}`;
  return database
    .query<JobRow, [string, number, number, number]>(sql)
    .all(place.channel, at, seq, entriesPerCall);
}

function entryOf(database: Database, place: TransferPlace, row: JobRow): TransferEntry {
  const sql = "SELECT payload FROM jobs WHERE seq = ?";
  const payload = database.query<{ payload: string | Uint8Array }, [number]>(sql).get(row.seq)?.payload ?? "";
  return {
    bytes: typeof payload === "string" ? Buffer.from(payload) : payload,
    at: place.state === "ready" ? 0 : row.at,
    mark: rowCursorText(row),
  };
}

/** Stores one entry after the other, in a channel behind all that are ready in it. */
function inserterFor(database: Database, place: TransferPlace): (entry: JournaledEntry) => void {
  const insert = database.query(
    "INSERT INTO jobs (channel, state, at, id, barrier, payload) VALUES (?, ?, ?, ?, NULL, ?)",
  );
  const state = jobState[place.state];
  const ready =
    place.state === "ready" ? { channel: place.channel, at: lastAt(database, place.channel) } : undefined;
  return ({ bytes, at }) => {
    const payload = isUtf8(bytes) ? Buffer.from(bytes).toString() : bytes;
    const text = typeof payload === "string" ? payload : new TextDecoder().decode(payload);
    const { id, channel } = readEntry(text, { isWhole: true, bytes: bytes.length });
    const number = channelId(database, ready?.channel ?? channel ?? "default");
    insert.run(number, state, ready?.at ?? at, id ?? "", payload);
  };
}

/** Not before the last one's time, should the clock have gone back. */
function lastAt(database: Database, channel: string): number {
  const sql = `SELECT max(at) AS at FROM jobs WHERE state = ${jobState.ready} AND channel = ?`;
  const last = database.query<{ at: number | null }, [number]>(sql).get(channelId(database, channel))?.at;
  return Math.max(Date.now() / 1000, last ?? 0);
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
