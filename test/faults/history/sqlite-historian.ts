import { Database } from "bun:sqlite";
import { jobState } from "../../../src/store/sqlite/schema.ts";
import type { Historian, History, Place, Step } from "./history.ts";

interface Row {
  readonly at: number;
  readonly job: string;
  /** Where it was put, with the token of a claim, or what it was taken from. */
  readonly put: Place | null;
  readonly taken: Place | null;
  readonly token: string | null;
}

const placeOf = (row: string) =>
  `CASE ${row}.state ${Object.entries(jobState)
    .map(([place, state]) => `WHEN ${state} THEN '${place}'`)
    .join(" ")} END`;
const record = "INSERT INTO faults_history (at, job, put, taken, token)";

/** A claim that replaces another one takes that one's job away without a delete that a trigger would see. */
const triggers = `
  CREATE TABLE IF NOT EXISTS faults_history (
    n INTEGER PRIMARY KEY, at REAL NOT NULL, job TEXT NOT NULL, put TEXT, taken TEXT, token TEXT
  );
  CREATE TRIGGER IF NOT EXISTS faults_ready AFTER INSERT ON ready BEGIN
    ${record} VALUES (unixepoch('subsec'), NEW.id, 'ready', NULL, NULL);
  END;
  CREATE TRIGGER IF NOT EXISTS faults_taken AFTER DELETE ON ready BEGIN
    ${record} VALUES (unixepoch('subsec'), OLD.id, NULL, 'ready', NULL);
  END;
  CREATE TRIGGER IF NOT EXISTS faults_timed AFTER INSERT ON jobs BEGIN
    ${record} VALUES (unixepoch('subsec'), NEW.id, ${placeOf("NEW")}, NULL, NULL);
  END;
  CREATE TRIGGER IF NOT EXISTS faults_gone AFTER DELETE ON jobs BEGIN
    ${record} VALUES (unixepoch('subsec'), OLD.id, NULL, ${placeOf("OLD")}, NULL);
  END;
  CREATE TRIGGER IF NOT EXISTS faults_replaced BEFORE INSERT ON claims BEGIN
    ${record} SELECT unixepoch('subsec'), id, NULL, 'claimed', NULL FROM claims
      WHERE key = NEW.key AND id IS NOT NULL;
  END;
  CREATE TRIGGER IF NOT EXISTS faults_claimed AFTER INSERT ON claims WHEN NEW.id IS NOT NULL BEGIN
    ${record} VALUES (unixepoch('subsec'), NEW.id, 'claimed', NULL, NEW.token);
  END;
  CREATE TRIGGER IF NOT EXISTS faults_ended AFTER DELETE ON claims WHEN OLD.id IS NOT NULL BEGIN
    ${record} VALUES (unixepoch('subsec'), OLD.id, NULL, 'claimed', NULL);
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

interface Standing {
  readonly place: Place;
  readonly token: string | undefined;
}

/**
 * A job is put where it goes before it is taken from where it was: its next row must be that, otherwise it
 * stands in two places.
 */
function historyOf(rows: readonly Row[], startedAt: number): History {
  const steps: Step[] = [];
  const standing = new Map<string, Standing[]>();
  const doubled: { id: string; places: string[] }[] = [];
  for (const { job: id, put, taken, token, at } of rows) {
    const stood = standing.get(id) ?? [];
    standing.set(id, stood);
    const doneBy = trueTime(at * 1000, startedAt);
    if (put !== null) {
      if (stood.length > 1) doubled.push({ id, places: [...stood.map(({ place }) => place), put] });
      stood.push({ place: put, token: token ?? undefined });
      if (stood.length === 1) steps.push({ id, from: undefined, to: put, token: token ?? undefined, doneBy });
      continue;
    }
    const from = taken ?? undefined;
    const [left] = stood.splice(
      stood.findIndex(({ place }) => place === from),
      1,
    );
    const to = stood.at(-1);
    steps.push({ id, from, to: to?.place, token: from === "claimed" ? left?.token : to?.token, doneBy });
  }
  for (const [id, stood] of standing) {
    if (stood.length > 1) doubled.push({ id, places: stood.map(({ place }) => place) });
  }
  return { steps, doubled };
}

/** A process with a wrong clock writes wrong times. They are wrong by multiples of ten minutes; a run is shorter. */
function trueTime(at: number, startedAt: number): number {
  const error = 600_000;
  return at - Math.round((at - startedAt - error / 4) / error) * error;
}
