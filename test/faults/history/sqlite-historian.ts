import { Database } from "bun:sqlite";
import { jobState } from "../../../src/store/sqlite/schema.ts";
import type { Historian, History, Place, Step } from "./history.ts";

interface Row {
  readonly what: "job" | "claim";
  readonly at: number;
  readonly job: string;
  readonly before: number | null;
  readonly after: number | null;
  readonly token: string | null;
}

const places = new Map<number, Place>(
  Object.entries(jobState).map(([place, state]) => [state, place as Place]),
);

const triggers = `
  CREATE TABLE IF NOT EXISTS faults_history (
    n INTEGER PRIMARY KEY, what TEXT NOT NULL, at REAL NOT NULL, job TEXT NOT NULL,
    before INTEGER, after INTEGER, token TEXT
  );
  CREATE TRIGGER IF NOT EXISTS faults_stored AFTER INSERT ON jobs BEGIN
    INSERT INTO faults_history (what, at, job, after) VALUES ('job', unixepoch('subsec'), NEW.id, NEW.state);
  END;
  CREATE TRIGGER IF NOT EXISTS faults_moved AFTER UPDATE OF state ON jobs BEGIN
    INSERT INTO faults_history (what, at, job, before, after)
      VALUES ('job', unixepoch('subsec'), NEW.id, OLD.state, NEW.state);
  END;
  CREATE TRIGGER IF NOT EXISTS faults_gone AFTER DELETE ON jobs BEGIN
    INSERT INTO faults_history (what, at, job, before) VALUES ('job', unixepoch('subsec'), OLD.id, OLD.state);
  END;
  CREATE TRIGGER IF NOT EXISTS faults_claimed AFTER INSERT ON claims BEGIN
    INSERT INTO faults_history (what, at, job, token) VALUES ('claim', unixepoch('subsec'), NEW.id, NEW.token);
  END;
`;

/**
 * The history of an embedded store: triggers in its file write each step down in the transaction that takes it,
 * so that a step and its record are there together or not at all.
 */
export class SqliteHistorian implements Historian {
  private readonly path: string;
  private readonly startedAt = Date.now();

  /** @param path of a file that has its tables and no job yet */
  constructor(path: string) {
    this.path = path;
    const database = new Database(path);
    try {
      database.run("PRAGMA busy_timeout = 5000");
      database.run(triggers);
    } finally {
      database.close();
    }
  }

  async read(): Promise<History> {
    const database = new Database(this.path, { readonly: true });
    try {
      return historyOf(
        database.query<Row, []>("SELECT * FROM faults_history ORDER BY n").all(),
        this.startedAt,
      );
    } finally {
      database.close();
    }
  }

  close(): void {}
}

function historyOf(rows: readonly Row[], startedAt: number): History {
  const steps: Step[] = [];
  const standing = new Map<string, { place: Place; token: string | undefined }[]>();
  const doubled: { id: string; places: string[] }[] = [];
  for (const [index, row] of rows.entries()) {
    if (row.what === "claim") continue;
    const [from, to] = [placeOf(row.before), placeOf(row.after)];
    if (from === to) continue;
    const stood = standing.get(row.job) ?? [];
    const left =
      from === undefined
        ? undefined
        : stood.splice(
            stood.findIndex(({ place }) => place === from),
            1,
          )[0];
    const token = to === "claimed" ? tokenBehind(rows, index, row.job) : undefined;
    if (to !== undefined) stood.push({ place: to, token });
    standing.set(row.job, stood);
    if (stood.length > 1) doubled.push({ id: row.job, places: stood.map(({ place }) => place) });
    const doneBy = trueTime(row.at * 1000, startedAt);
    steps.push({ id: row.job, from, to, token: from === "claimed" ? left?.token : token, doneBy });
  }
  return { steps, doubled };
}

/** A claim's row is written behind its job's, in the same transaction. */
function tokenBehind(rows: readonly Row[], index: number, job: string): string | undefined {
  for (let i = index + 1; i < rows.length; i++) {
    const row = rows[i] as Row;
    if (row.job === job) return row.what === "claim" ? (row.token ?? undefined) : undefined;
  }
  return undefined;
}

function placeOf(state: number | null): Place | undefined {
  return state === null ? undefined : places.get(state);
}

/** A process with a wrong clock writes wrong times. They are wrong by multiples of ten minutes; a run is shorter. */
function trueTime(at: number, startedAt: number): number {
  const error = 600_000;
  return at - Math.round((at - startedAt - error / 4) / error) * error;
}
