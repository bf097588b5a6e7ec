import type { Database } from "bun:sqlite";
import type {
  CatalogStore,
  ChannelView,
  ClaimHolder,
  ClaimView,
  EntryPlace,
  EntrySet,
  ExecutionView,
  NodeView,
  Page,
  PageOptions,
  PurgeablePlace,
  PurgeStep,
  RequeueResult,
  RequeueStep,
  StepOptions,
  StoredCounters,
  StoredEntry,
  Survey,
} from "../catalog-store.ts";
import { readEntry } from "../entry-reading.ts";
import { executionView } from "../execution-view.ts";
import { ownProof } from "../liveness.ts";
import type { NodeSignal } from "../store.ts";
import { stored as storedAs } from "./bodies.ts";
import { locatorFrom, numberFrom, partsFrom, rowCursorFrom } from "./catalog-cursors.ts";
import { bytesPerCall, entriesPerCall, entryPage, rowsWanted, storedEntry } from "./catalog-entries.ts";
import { idsOf } from "./catalog-ids.ts";
import { Remaining } from "./catalog-remaining.ts";
import { type CatalogStatements, type EntryRow, prepareCatalog } from "./catalog-statements.ts";
import {
  channelView,
  claimView,
  holderName,
  holderParts,
  nodeView,
  strayHolder,
  strayKey,
  strayView,
} from "./catalog-views.ts";
import { type FileOptions, SqliteFile } from "./file.ts";
import { requeuedText, textOf } from "./head.ts";
import { placeBits } from "./schema.ts";

const endOfChannel = 2 ** placeBits;
const rowsPerPurge = 1000;
const bytesPerPurge = 4 * 1024 * 1024;
const bytesMovedPerCall = 512 * 1024;
const signalSeconds = 60;
const signalsKept = 16;

/**
 * Inspection and administration of the embedded engine's file, on a connection of its own. Reading holds up
 * nobody; counting takes about 0.2 s for each million jobs counted.
 */
export class SqliteCatalog implements CatalogStore {
  readonly address: string;
  private readonly file: SqliteFile;
  private readonly remaining = new Remaining();
  private prepared: { database: Database; statements: CatalogStatements } | undefined;

  /** Opens nothing: the first call does, and makes the file where there is none. */
  constructor(options: FileOptions) {
    this.address = `sqlite:${options.path}`;
    this.file = new SqliteFile(options);
  }

  async close(): Promise<void> {
    this.file.close();
  }

  counters(): Promise<StoredCounters> {
    return this.read((statements) => {
      const counted = new Map(statements.counters.all().map(({ name, value }) => [name, value]));
      const { planned, retrying, discarded } = statements.sets;
      const settled = statements.settled.get();
      return {
        processed: (counted.get("processed") ?? 0) + (settled?.processed ?? 0),
        failed: (counted.get("failed") ?? 0) + (settled?.failed ?? 0),
        planned: planned.count.get()?.n ?? 0,
        retrying: retrying.count.get()?.n ?? 0,
        discarded: discarded.count.get()?.n ?? 0,
        channels: statements.countChannels.get()?.n ?? 0,
        nodes: statements.countNodes.get()?.n ?? 0,
      };
    });
  }

  // -------------------------------------------------------------------------------------- channels

  async channels(cursor?: string): Promise<Page<ChannelView>> {
    const after = numberFrom(cursor);
    return this.read((statements, now) => {
      const rows = statements.channels.all(after, entriesPerCall);
      return {
        items: rows.map((row) => channelView(statements, row, now)),
        cursor: rows.length < entriesPerCall ? undefined : String(rows.at(-1)?.id),
      };
    });
  }

  pause(channel: string): Promise<boolean> {
    return this.write((statements) => {
      statements.addChannel.get(channel);
      return statements.setPaused.run(1, channel, 0).changes === 1;
    });
  }

  resume(channel: string): Promise<boolean> {
    return this.writeReady((statements) => statements.setPaused.run(0, channel, 1).changes === 1);
  }

  // -------------------------------------------------------------------------------------- entries

  async entries(place: EntryPlace, options: PageOptions = {}): Promise<Page<StoredEntry>> {
    const from = options.cursor === undefined ? undefined : rowCursorFrom(options.cursor);
    if (place.state === "claimed") return this.claimedEntries(place, options);
    return this.read((statements) => {
      if (place.state !== "ready") {
        const { at, seq } = from ?? { at: Number.NEGATIVE_INFINITY, seq: -1 };
        const rows = statements.sets[place.state].after.all(at, seq, rowsWanted(options));
        return entryPage(statements, rows, { ...options, from: "jobs" });
      }
      const channel = statements.channel.get(place.channel)?.id;
      if (channel === undefined) return { items: [], cursor: undefined };
      const before = Math.min(from?.seq ?? endOfChannel, endOfChannel);
      const rows = statements.readyFromNewest.all(channel, before, rowsWanted(options));
      return entryPage(statements, rows, { ...options, from: "ready" });
    });
  }

  private async claimedEntries(holder: ClaimHolder, options: PageOptions): Promise<Page<StoredEntry>> {
    const entry = (await this.claim(holder))?.entry;
    const isMeant = entry !== undefined && (options.id === undefined || options.id === entry.id);
    return { items: isMeant ? [entry] : [], cursor: undefined };
  }

  async remove(set: EntrySet, locator: string): Promise<boolean> {
    const meant = locatorFrom(locator);
    return this.write((statements) => {
      const row = located(statements, set, meant);
      if (row === undefined) return false;
      statements.deleteJob.run(row.seq);
      acquit(statements, row.id);
      return true;
    });
  }

  async requeue(set: EntrySet, locator: string): Promise<RequeueResult> {
    const meant = locatorFrom(locator);
    return this.writeReady((statements, now) => {
      const row = located(statements, set, meant);
      if (row === undefined) return "gone";
      if (!requeueRow(statements, row, now)) return "unreadable";
      if (set === "discarded") acquit(statements, row.id);
      return "requeued";
    });
  }

  requeueStep(
    set: EntrySet,
    { skip, most, isFurther = false }: { readonly skip: number; readonly most: number } & StepOptions,
  ): Promise<RequeueStep> {
    return this.writeReady((statements, now) => {
      const { from, count } = statements.sets[set];
      const rows = withinBytes(from.all(Math.min(most, entriesPerCall), skip), bytesMovedPerCall);
      const moved = rows.filter((row) => requeueRow(statements, row, now));
      if (set === "discarded") for (const { id } of moved) acquit(statements, id);
      const requeued = moved.length;
      const kept = rows.length - requeued;
      const step = { gone: requeued, isFurther, count: () => count.get()?.n ?? 0 };
      const stored = this.remaining.after(`requeue ${set}`, step);
      return { requeued, kept, remaining: Math.max(0, stored - skip - kept) };
    });
  }

  async purgeStep(place: PurgeablePlace, { isFurther = false }: StepOptions = {}): Promise<PurgeStep> {
    const removed = await this.write((statements) => {
      const rows = withinBytes(earliest(statements, place, rowsPerPurge), bytesPerPurge);
      for (const { seq, channel } of rows) {
        if (channel === undefined) statements.deleteJob.run(seq);
        else removeReady(statements, channel, seq);
      }
      return rows.length;
    });
    const name = place.state === "ready" ? `purge ready ${place.channel}` : `purge ${place.state}`;
    const remaining = await this.read((statements) =>
      this.remaining.after(name, { gone: removed, isFurther, count: () => sizeOf(statements, place) }),
    );
    return { removed, remaining };
  }

  // -------------------------------------------------------------------------------------- nodes

  nodes(cursor = ""): Promise<Page<NodeView>> {
    const own = ownProof();
    return this.read((statements, now) => {
      const rows = statements.nodes.all(cursor, entriesPerCall);
      return {
        items: rows.map((row) => nodeView(row, own, now)),
        cursor: rows.length < entriesPerCall ? undefined : rows.at(-1)?.identity,
      };
    });
  }

  signal(identity: string, signal: NodeSignal): Promise<boolean> {
    return this.write((statements, now) => {
      if (statements.node.get(identity) === null) return false;
      statements.addSignal.run(identity, signal, now + signalSeconds);
      statements.trimSignals.run(identity, identity, signalsKept);
      return true;
    });
  }

  async executions(identity: string, cursor?: string): Promise<Page<ExecutionView>> {
    const [executor, slot] = holderFrom(cursor);
    return this.read((statements) => {
      const rows = statements.running.all(identity, executor, slot, entriesPerCall);
      return {
        items: rows.map((row) => executionView(identity, holderName(row), row.job)),
        cursor: rows.length < entriesPerCall ? undefined : holderText(rows.at(-1)),
      };
    });
  }

  // -------------------------------------------------------------------------------------- claims

  async claims(identity: string, cursor?: string): Promise<Page<ClaimView>> {
    const [executor, slot] = holderFrom(cursor);
    return this.read((statements) => {
      const rows = statements.claims.all(identity, executor, slot, entriesPerCall);
      const items: ClaimView[] = [];
      let bytes = 0;
      for (const row of rows) {
        if (bytes > bytesPerCall) break;
        const view = claimView(statements, identity, row);
        bytes += view.entry?.bytes ?? 0;
        items.push(view);
      }
      const isEnd = items.length === rows.length && rows.length < entriesPerCall;
      return { items, cursor: isEnd ? undefined : holderText(rows[items.length - 1]) };
    });
  }

  claim(reference: ClaimHolder): Promise<ClaimView | undefined> {
    return this.read((statements) => {
      const stray = strayKey(reference);
      if (stray !== undefined) return strayView(statements, stray);
      const parts = holderParts(reference.holder);
      if (parts === undefined) return undefined;
      const row = statements.claim.get(reference.node, parts.executor, parts.slot);
      return row === null ? undefined : claimView(statements, reference.node, row);
    });
  }

  // -------------------------------------------------------------------------------------- walks

  /** The owners of claims first, then what is claimed by nobody. */
  async survey(cursor?: string): Promise<Survey> {
    const none = { channels: [], holders: [], nodes: [] };
    const after = numberFrom(cursor);
    return this.read((statements) => {
      if (cursor === undefined) {
        return { ...none, nodes: statements.claimOwners.all().map(({ node }) => node), cursor: "0" };
      }
      const rows = statements.strays.all(after, entriesPerCall);
      const next = rows.length < entriesPerCall ? undefined : String(rows.at(-1)?.key);
      return { ...none, holders: rows.map(strayHolder), cursor: next };
    });
  }

  /** None: the Ruby member counts them, which does not use this engine. */
  async attempts(): Promise<Page<string>> {
    return { items: [], cursor: undefined };
  }

  /** `key` names a table of the user's own in the same file; see `idsOf`. */
  ids(key: string, cursor?: string): Promise<Page<string>> {
    const { path } = this.file;
    return this.file.read((database) => idsOf(database, { table: key, cursor, path }));
  }

  // -------------------------------------------------------------------------------------- helpers

  /** All statements of one call see the file at one moment. */
  private read<T>(work: (statements: CatalogStatements, now: number) => T): Promise<T> {
    return this.file.read((database) =>
      database.transaction(() => work(this.statements(database), Date.now() / 1000))(),
    );
  }

  private write<T>(work: (statements: CatalogStatements, now: number) => T): Promise<T> {
    return this.file.write((database) => work(this.statements(database), Date.now() / 1000));
  }

  /** As `write`, for what may make jobs ready: idle workers of this process are woken. */
  private writeReady<T>(work: (statements: CatalogStatements, now: number) => T): Promise<T> {
    return this.file.write((database) => work(this.statements(database), Date.now() / 1000), {
      onCommit: () => this.file.turns.tellNews(),
    });
  }

  private statements(database: Database): CatalogStatements {
    if (this.prepared?.database !== database) {
      this.prepared = { database, statements: prepareCatalog(database) };
    }
    return this.prepared.statements;
  }
}

/** The row that a locator means, while it is still in that set, for that time and job. */
function located(
  statements: CatalogStatements,
  set: EntrySet,
  { seq, at, id }: { seq: number; at: number; id: string },
): EntryRow | undefined {
  const row = statements.entry.get(seq);
  const isMeant = row?.state === statements.sets[set].state && row.at === at && row.id === id;
  return isMeant ? row : undefined;
}

function removeReady(statements: CatalogStatements, channel: number, place: number): void {
  const body = statements.deleteReady.get(channel, place)?.body ?? null;
  if (body !== null) statements.deleteBody.run(body);
}

/** False when its channel cannot be told. */
function requeueRow(statements: CatalogStatements, row: EntryRow, now: number): boolean {
  const { channel } = storedEntry(statements, row, { from: "jobs", withText: false });
  const stored = statements.contents.jobs.payload.get(0, row.seq)?.payload ?? "";
  const name = channel ?? wholeChannel(stored, row.bytes);
  if (name === undefined) return false;
  const id = statements.addChannel.get(name)?.id ?? 0;
  const payload = typeof stored === "string" ? requeuedText(stored, Math.floor(now * 1000)) : stored;
  const { shape, payload: text } = storedAs(statements.addBody, payload);
  statements.requeue.run(id, shape, text, row.seq);
  statements.deleteJob.run(row.seq);
  return true;
}

/** What the archive gives back starts afresh, and what is removed may come again. */
function acquit(statements: CatalogStatements, id: string): void {
  statements.dropCrashes.run(id);
  statements.acquit.run(id);
}

/** Of an envelope of another layout that is too large to be shown. */
function wholeChannel(payload: string | Uint8Array, bytes: number): string | undefined {
  return bytes <= bytesPerCall ? undefined : readEntry(textOf(payload), { isWhole: true, bytes }).channel;
}

/** As many of the rows as their bytes allow, but always one. */
function withinBytes(rows: readonly EntryRow[], most: number): readonly EntryRow[] {
  let bytes = 0;
  const end = rows.findIndex((row, i) => {
    bytes += row.bytes;
    return i > 0 && bytes > most;
  });
  return end === -1 ? rows : rows.slice(0, end);
}

function earliest(statements: CatalogStatements, place: PurgeablePlace, limit: number): readonly EntryRow[] {
  if (place.state !== "ready") return statements.sets[place.state].from.all(limit, 0);
  const channel = statements.channel.get(place.channel)?.id;
  return channel === undefined ? [] : statements.readyFromOldest.all(channel, limit);
}

function sizeOf(statements: CatalogStatements, place: PurgeablePlace): number {
  if (place.state !== "ready") return statements.sets[place.state].count.get()?.n ?? 0;
  const channel = statements.channel.get(place.channel)?.id;
  return channel === undefined ? 0 : (statements.countReady.get(channel)?.n ?? 0);
}

function holderFrom(cursor: string | undefined): [executor: string, slot: number] {
  const [executor = "", slot = -1] = cursor === undefined ? [] : partsFrom(cursor);
  return [String(executor), Number(slot)];
}

function holderText(row: { executor: string; slot: number } | undefined): string | undefined {
  return row === undefined ? undefined : JSON.stringify([row.executor, row.slot]);
}
