import type { Database } from "bun:sqlite";
import { StoreError } from "../../foundation/errors.ts";
import type { Page } from "../catalog-store.ts";
import { partsFrom } from "./catalog-cursors.ts";

const idsPerCall = 1000;

/**
 * A page of the ids in a table of the user's own, in the same file: any table with exactly one column, which
 * holds one id a row. A table that does not exist holds none.
 *
 * @throws StoreError for a table with more columns, or rows that are not texts
 */
export function idsOf(
  database: Database,
  { table, cursor, path }: { readonly table: string; readonly cursor: string | undefined; path: string },
): Page<string> {
  const facts = factsOf(database, table);
  if (facts === undefined) return { items: [], cursor: undefined };
  const columns = columnsOf(database, facts.name);
  const [column] = columns;
  if (column === undefined || columns.length > 1) {
    throw new StoreError(
      `${path}: expected a table of one column with an id in each row at "${table}", it has ${columns.length} columns: ${columns.join(", ")}`,
    );
  }
  // A table has rowids to go by, unless it was made WITHOUT ROWID; so does no view.
  const mark = facts.type === "table" && facts.wr === 0 ? "rowid" : quoted(column);
  const from = cursor === undefined ? [] : partsFrom(cursor);
  const rows = database
    .query<{ id: unknown; mark: unknown }, (string | number)[]>(
      `SELECT ${quoted(column)} AS id, ${mark} AS mark FROM ${quoted(facts.name)}
       WHERE ${quoted(column)} IS NOT NULL ${from.length === 0 ? "" : `AND ${mark} > ?`} ORDER BY ${mark} LIMIT ?`,
    )
    .all(...(from as (string | number)[]), idsPerCall);
  const last = rows.at(-1)?.mark;
  return {
    items: rows.map(({ id }) => idText(id, table, path)),
    cursor: rows.length < idsPerCall ? undefined : JSON.stringify([last]),
  };
}

interface TableFacts {
  readonly name: string;
  readonly type: string;
  readonly wr: number;
}

/** SQLite's names know no case. */
function factsOf(database: Database, table: string): TableFacts | undefined {
  const found = database
    .query<TableFacts, [string]>(
      "SELECT name, type, wr FROM pragma_table_list WHERE schema = 'main' AND name = ? COLLATE NOCASE",
    )
    .get(table);
  return found ?? undefined;
}

function columnsOf(database: Database, table: string): string[] {
  const rows = database.query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?)").all(table);
  return rows.map(({ name }) => name);
}

function idText(value: unknown, table: string, path: string): string {
  if (typeof value === "string" || typeof value === "number") return String(value);
  throw new StoreError(`${path}: expected ids as text in the table "${table}", got bytes`);
}

function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}
