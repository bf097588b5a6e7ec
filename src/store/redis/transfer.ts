import { readEntry } from "../entry-reading.ts";
import type {
  JournaledEntry,
  TransferEntry,
  TransferPage,
  TransferPlace,
  TransferStore,
} from "../transfer-store.ts";
import { redisAddress } from "./address.ts";
import { setCursor, setCursorText } from "./catalog-cursors.ts";
import { RedisConnection } from "./connection.ts";
import { RedisKeys } from "./keys.ts";
import { transferScripts } from "./transfer-scripts.ts";

export interface RedisTransferOptions {
  readonly url: string;
  readonly prefix: string;
  readonly tlsCa?: string | undefined;
}

const entriesPerCall = 500;
/** For a call of some milliseconds; larger entries come alone. */
const bytesPerCall = 256 * 1024;

type Row = [score: string, bytes: number, text: string];

/** Jobs on their way out of or into Redis, on a connection of its own. */
export class RedisTransfer implements TransferStore {
  readonly identity: string;
  private readonly keys: RedisKeys;
  private readonly connection: RedisConnection;

  /** Opens nothing: the first call connects. */
  constructor({ url, prefix, tlsCa }: RedisTransferOptions) {
    const address = redisAddress(url, tlsCa);
    this.identity = `${address.display} ${prefix}`;
    this.keys = new RedisKeys(prefix);
    this.connection = new RedisConnection(address);
  }

  async close(): Promise<void> {
    this.connection.close();
  }

  async size(place: TransferPlace): Promise<number> {
    const command = place.state === "ready" ? "LLEN" : "ZCARD";
    return Number(await this.connection.call(command, [this.key(place)]));
  }

  /** A list from the right: publishing at the left shifts nothing there. */
  async page(place: TransferPlace, cursor?: string): Promise<TransferPage> {
    const { score, seen } = setCursor(cursor);
    const args = [kindOf(place), score, seen, entriesPerCall, bytesPerCall];
    let reply = await this.connection.script(transferScripts.page, [this.key(place)], [...args, ""]);
    const isRecoded = !(reply[4] as Row[]).every(isFaithful);
    if (isRecoded) {
      reply = await this.connection.script(transferScripts.page, [this.key(place)], [...args, "recoded"]);
    }
    const [size, looked, lastScore, placed, rows] = reply as [number, number, string, number, Row[]];
    const isList = place.state === "ready";
    const isEnd = looked === 0 || (isList && seen + looked >= size);
    const next = isList ? { score: "", seen: seen + looked } : { score: lastScore, seen: placed };
    return {
      entries: rows.map((row) => entryFrom(row, isRecoded)),
      cursor: isEnd ? undefined : setCursorText(next),
    };
  }

  async add(place: TransferPlace, journal: string, entries: readonly JournaledEntry[]): Promise<number> {
    const channel = place.state === "ready" ? place.channel : "";
    const [added] = await this.connection.script(
      transferScripts.add,
      [this.key(place), this.keys.channels, this.keys.transfer(journal)],
      [
        this.keys.prefix,
        kindOf(place),
        channel,
        ...entries.flatMap(({ digest, occurrence, at, bytes }) => [digest, occurrence, scoreText(at), bytes]),
      ],
    );
    return Number(added);
  }

  async journaled(journal: string, digests: readonly Uint8Array[]): Promise<readonly number[]> {
    if (digests.length === 0) return [];
    const reply = await this.connection.call("HMGET", [this.keys.transfer(journal), ...digests]);
    return (reply as (string | null)[]).map((count) => Number(count ?? 0));
  }

  async remove(place: TransferPlace, entries: readonly TransferEntry[]): Promise<number> {
    const args = entries.flatMap(({ at, bytes }) => [scoreText(at), bytes, idOf(bytes)]);
    const [removed] = await this.connection.script(
      transferScripts.remove,
      [this.key(place), this.keys.attempts],
      [this.keys.prefix, kindOf(place), ...args],
    );
    return Number(removed);
  }

  async note(journal: string, name: string): Promise<string | undefined> {
    const value = await this.connection.call("HGET", [this.keys.transferNotes(journal), name]);
    return typeof value === "string" ? value : undefined;
  }

  async setNote(journal: string, name: string, value: string | undefined): Promise<void> {
    const key = this.keys.transferNotes(journal);
    if (value === undefined) await this.connection.call("HDEL", [key, name]);
    else await this.connection.call("HSET", [key, name, value]);
  }

  /** The server frees it in a thread of its own, so that one step does. */
  async forgetStep(journal: string): Promise<boolean> {
    await this.connection.call("UNLINK", [this.keys.transfer(journal)]);
    return false;
  }

  private key(place: TransferPlace): string {
    if (place.state === "ready") return this.keys.channel(place.channel);
    return this.keys[place.state === "retrying" ? "retries" : place.state];
  }
}

function kindOf(place: TransferPlace): "list" | "zset" {
  return place.state === "ready" ? "list" : "zset";
}

/** Bytes that are not UTF-8 have become replacement characters. */
function isFaithful([, bytes, text]: Row): boolean {
  return !text.includes("\ufffd") && Buffer.byteLength(text) === bytes;
}

function entryFrom([score, , text]: Row, isRecoded: boolean): TransferEntry {
  const bytes = Buffer.from(text, isRecoded ? "latin1" : "utf8");
  return { bytes, at: score === "" ? 0 : scoreFrom(score), mark: "" };
}

function scoreFrom(text: string): number {
  return Number(text.replace("inf", "Infinity"));
}

function scoreText(at: number): string {
  return String(at).replace("Infinity", "inf");
}

function idOf(bytes: Uint8Array): string {
  const text = new TextDecoder().decode(bytes);
  return readEntry(text, { isWhole: true, bytes: bytes.length }).id ?? "";
}
