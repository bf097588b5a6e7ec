import { StoreError } from "../../foundation/errors.ts";
import type { Page, PageOptions, StoredEntry } from "../catalog-store.ts";
import { listCursor, listCursorText, repeated, setCursor, setCursorText } from "./catalog-cursors.ts";
import { type EntryRow, entryFrom } from "./catalog-entries.ts";
import { catalogScripts } from "./catalog-scripts.ts";
import type { RedisConnection } from "./connection.ts";
import type { RedisKeys } from "./keys.ts";

const entriesPerCall = 100;
const bytesPerCall = 1024 * 1024;
/** Names of keys are short. */
const keysPerCall = 500;
const markLength = 12;

interface PageRequest {
  readonly kind: "list" | "zset";
  readonly score: string;
  readonly offset: number;
}

/** Reads what is large in pages: lists, sorted sets, the elements of sets and hashes, the keys. */
export class CatalogReader {
  private readonly connection: RedisConnection;
  private readonly keys: RedisKeys;

  constructor(connection: RedisConnection, keys: RedisKeys) {
    this.connection = connection;
    this.keys = keys;
  }

  /** From the left: publishing shifts what was read already, and taking at the right shifts nothing. */
  async list(key: string, options: PageOptions): Promise<Page<StoredEntry>> {
    const { index, tail } = listCursor(options.cursor);
    const start = tail.length > 0 ? Math.max(0, index - 1) : index;
    const { size, looked, rows } = await this.page(key, { kind: "list", score: "", offset: start }, options);
    const marks = rows.map(({ digest }) => digest.slice(0, markLength));
    const fresh = repeated(tail, marks);
    const end = start + looked;
    // A page that was cut by its bytes, or holds only some entries, has no marks to align the next one by.
    const isAligned = looked === entriesPerCall && rows.length === looked && fresh < rows.length;
    const nextTail = isAligned ? [...tail, ...marks.slice(fresh)].slice(-entriesPerCall) : [];
    return {
      items: rows.slice(fresh).map(entryFrom),
      cursor: looked === 0 || end >= size ? undefined : listCursorText({ index: end, tail: nextTail }),
    };
  }

  async set(key: string, options: PageOptions): Promise<Page<StoredEntry>> {
    const { score, seen } = setCursor(options.cursor);
    const page = await this.page(key, { kind: "zset", score, offset: seen }, options);
    return {
      items: page.rows.map(entryFrom),
      cursor: page.looked === 0 ? undefined : setCursorText({ score: page.score, seen: page.placed }),
    };
  }

  private async page(
    key: string,
    { kind, score, offset }: PageRequest,
    { withText = true, id }: PageOptions,
  ) {
    const wanted = id === undefined ? "" : JSON.stringify(id).slice(1, -1);
    const shown = withText ? bytesPerCall : 0;
    const args = [kind, score, offset, entriesPerCall, bytesPerCall, shown, wanted];
    const reply = await this.connection.script(catalogScripts.page, [key], args);
    const [size, looked, lastScore, placed, rows] = reply as [number, number, string, number, Row[]];
    const read = rows.map(entryRow);
    // The script finds the id as text in envelopes it does not know; whose id it is, only decoding tells.
    const meant = id === undefined ? read : read.filter((row) => entryFrom(row).id === id);
    return { size, looked, score: lastScore, placed, rows: meant };
  }

  /** Members of a set. */
  async scan(command: "SSCAN", key: string, cursor = "0"): Promise<Page<string>> {
    const [next, items] = await this.named(key, command, [key, cursor, "COUNT", entriesPerCall]);
    return { items: items.map(String), cursor: next === "0" ? undefined : next };
  }

  /** Fields and values of a hash, members and scores of a sorted set. */
  async scanPairs(
    key: string,
    cursor = "0",
    count = entriesPerCall,
    command: "HSCAN" | "ZSCAN" = "HSCAN",
  ): Promise<Page<[string, string]>> {
    const [next, flat] = await this.named(key, command, [key, cursor, "COUNT", count]);
    const items: [string, string][] = [];
    for (let i = 0; i + 1 < flat.length; i += 2) items.push([String(flat[i]), String(flat[i + 1])]);
    return { items, cursor: next === "0" ? undefined : next };
  }

  /** The keys that channels and nodes may have. */
  async scanKeys(cursor = "0"): Promise<Page<string>> {
    const pattern = `${this.keys.prefix.replace(/[\\*?[\]^-]/g, "\\$&")}[cn]*`;
    const reply = await this.connection.call("SCAN", [cursor, "MATCH", pattern, "COUNT", keysPerCall]);
    const [next, items] = reply as [string, string[]];
    return { items, cursor: next === "0" ? undefined : next };
  }

  /** The elements of a user's own list. */
  async texts(key: string, cursor = "0"): Promise<Page<string>> {
    const from = Number(cursor);
    const items = (await this.connection.call("LRANGE", [key, from, from + entriesPerCall - 1])) as string[];
    return { items, cursor: items.length < entriesPerCall ? undefined : String(from + items.length) };
  }

  /** The server does not say which key is of the wrong type. */
  private async named(key: string, command: string, args: (string | number)[]): Promise<[string, unknown[]]> {
    try {
      return (await this.connection.call(command, args)) as [string, unknown[]];
    } catch (error) {
      if (!(error instanceof StoreError) || !error.message.includes("WRONGTYPE")) throw error;
      const kind = command === "SSCAN" ? "set" : "hash";
      throw new StoreError(`${error.message}: "${key}" must be a ${kind}; rename or delete that key`, {
        cause: error,
      });
    }
  }
}

type Row = [string, number, string, string, string, number, string, number];

function entryRow([digest, bytes, id, channel, text, isWhole, score, place]: Row): EntryRow {
  return { digest, bytes, id, channel, text, isWhole: isWhole === 1, score, place };
}
