import { Database } from "bun:sqlite";
import { pathOf } from "../javascript.ts";

/** Rows with a partial index on the ready ones, in a file in WAL mode: what any queue in SQLite comes to. */
export function openFile(url: string): Database {
  const database = new Database(pathOf(url), { create: true, strict: true });
  database.run("PRAGMA journal_mode = WAL");
  database.run("PRAGMA synchronous = NORMAL");
  database.run("PRAGMA busy_timeout = 5000");
  database.run(
    "CREATE TABLE IF NOT EXISTS jobs (seq INTEGER PRIMARY KEY, channel INTEGER NOT NULL, state INTEGER NOT NULL, payload TEXT NOT NULL)",
  );
  database.run("CREATE INDEX IF NOT EXISTS ready ON jobs (channel, seq) WHERE state = 2");
  return database;
}

// As long as the envelope of a job without arguments.
const filler = "x".repeat(150);

export function payloadOf(index: number): string {
  return JSON.stringify({ index, filler });
}
