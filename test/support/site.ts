import { Database } from "bun:sqlite";
import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { dirname, join } from "node:path";
import { Catalog } from "../../src/catalog/catalog.ts";
import { settingsFrom } from "../../src/config/resolve.ts";
import type { Settings } from "../../src/config/settings.ts";
import { encodeEnvelope } from "../../src/envelope/codec.ts";
import { newJobId } from "../../src/foundation/ids.ts";
import { storeFor } from "../../src/store/open.ts";
import { slotBits } from "../../src/store/sqlite/schema.ts";
import type { Publication, Store } from "../../src/store/store.ts";
import { awaited } from "./awaited.ts";
import { NodeProcess } from "./node-process.ts";
import { RedisServer, type RedisServerOptions } from "./redis-server.ts";
import { type TemporaryFolder, temporaryFolder } from "./temporary-folder.ts";

/** What the jobs of `fault-jobs.ts` write down. */
export interface Note {
  readonly event: string;
  readonly key: string;
  readonly pid: number;
  readonly thread: number;
  /** Epoch milliseconds. */
  readonly at: number;
  readonly attempt: number;
}

export interface NodeSetup {
  readonly args?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
  readonly modules?: readonly string[];
  readonly url?: string;
}

export interface PublishSetup {
  readonly channel?: string;
  readonly maxFailures?: number;
  readonly id?: string;
  readonly due?: Publication["due"];
}

export interface SiteOptions extends RedisServerOptions {
  readonly engine?: SiteEngine;
}

const faultJobs = join(import.meta.dir, "fault-jobs.ts");

/** Where a site's jobs are stored: on a Redis of its own, or in a file of its own. */
export type SiteEngine = "redis" | "sqlite";

/** For tests of what a node does on every engine. */
export const siteEngines: readonly SiteEngine[] = ["redis", "sqlite"];

/** One test's world: a private store, a folder, a ledger that jobs write to, the nodes it started. */
export class Site implements AsyncDisposable {
  readonly folder: TemporaryFolder;
  readonly url: string;
  readonly settings: Settings;
  readonly store: Store;
  readonly catalog: Catalog;
  readonly nodes: NodeProcess[] = [];
  readonly ledger: string;

  private readonly server: RedisServer | undefined;

  private constructor(server: RedisServer | undefined) {
    this.server = server;
    this.folder = temporaryFolder();
    this.ledger = join(this.folder.path, "ledger");
    this.url = server?.url ?? `sqlite:${join(this.folder.path, "store", "jobs.sqlite")}`;
    this.settings = settingsFrom({ env: {}, given: { url: this.url } });
    this.store = storeFor(this.settings);
    this.catalog = new Catalog(this.settings);
  }

  /** On Redis unless another engine is named. */
  static async open({ engine = "redis", ...options }: SiteOptions = {}): Promise<Site> {
    return new Site(engine === "redis" ? await RedisServer.start(options) : undefined);
  }

  get redis(): RedisServer {
    if (this.server === undefined) throw new Error("this site has no Redis");
    return this.server;
  }

  /** How often a node or thread is counted to have died while the job ran. */
  async crashes(jobId: string): Promise<number> {
    if (this.server !== undefined)
      return Number(await this.server.send("GET", `solid_jobs:crashes:${jobId}`));
    return this.rows<{ count: number }>("SELECT count FROM crashes WHERE id = ?", jobId)[0]?.count ?? 0;
  }

  /** Whether a node's workers may not reserve any more. */
  async isClosedForReservations(node: NodeProcess): Promise<boolean> {
    if (this.server !== undefined)
      return (await this.server.send("EXISTS", `solid_jobs:node:${node.identity}:generations`)) === 0;
    const granted = `SELECT 1 FROM executors JOIN claims ON key = executors.id << ${slotBits}
      WHERE node = ? AND token IS NOT NULL`;
    return this.rows(granted, node.identity).length === 0;
  }

  /** What the store holds of nodes: keys, or rows and files. */
  async tracesOfNodes(): Promise<string[]> {
    if (this.server !== undefined) return (await this.server.send("KEYS", "*node*")) as string[];
    const tables = ["nodes", "executors", "claims", "running", "signals"];
    const rows = tables.flatMap((table) =>
      this.rows(`SELECT * FROM ${table}`).map((row) => JSON.stringify(row)),
    );
    const files = readdirSync(join(this.folder.path, "store")).filter((name) => name.includes("-node-"));
    return [...rows, ...files];
  }

  private rows<T>(sql: string, ...values: string[]): T[] {
    const database = new Database(this.url.slice("sqlite:".length), { readonly: true });
    try {
      return database.query<T, string[]>(sql).all(...values);
    } finally {
      database.close();
    }
  }

  /**
   * Writes a module with tasks of its own, which may import "solid-jobs", into the folder `jobs`: apart from
   * what jobs write, which a watching node must not see.
   */
  module(name: string, source: string): string {
    const linked = join(this.folder.path, "jobs", "node_modules", "solid-jobs");
    if (!existsSync(linked)) {
      mkdirSync(dirname(linked), { recursive: true });
      symlinkSync(join(import.meta.dir, "..", ".."), linked);
    }
    return this.folder.write(join("jobs", name), source);
  }

  /** Starts a node that serves `fault-jobs.ts`; resolves when it has started. */
  node(setup: NodeSetup = {}): Promise<NodeProcess> {
    return this.spawn(setup).started();
  }

  /** Without waiting for its start. Retries come fast. */
  spawn({ args = [], env = {}, modules = [faultJobs], url = this.url }: NodeSetup = {}): NodeProcess {
    const node = new NodeProcess({
      args: ["-r", ...modules, "--url", url, ...args],
      cwd: this.folder.path,
      env: { ...this.environment, ...env },
    });
    this.nodes.push(node);
    return node;
  }

  /** An application of one's own, in the same environment. */
  program(file: string, env: Readonly<Record<string, string>> = {}): NodeProcess {
    const environment = { ...this.environment, ...env };
    const node = new NodeProcess({ program: file, args: [], cwd: this.folder.path, env: environment });
    this.nodes.push(node);
    return node;
  }

  get environment(): Record<string, string> {
    return {
      LEDGER: this.ledger,
      SOLID_JOBS_RETRY_BASE: "0.1",
      SOLID_JOBS_RETRY_CAP: "0.5",
      SOLID_JOBS_CONCURRENCY: "1",
    };
  }

  /** Stores a job as a publisher does. */
  async publish(task: string, args: unknown[] = [], setup: PublishSetup = {}): Promise<string> {
    const publication = this.publication(task, args, setup);
    await this.store.publish([publication]);
    return publication.id;
  }

  async publishMany(task: string, each: readonly unknown[][], setup: PublishSetup = {}): Promise<string[]> {
    const publications = each.map((args) => this.publication(task, args, setup));
    for (let from = 0; from < publications.length; from += 500)
      await this.store.publish(publications.slice(from, from + 500));
    return publications.map(({ id }) => id);
  }

  /** What the jobs wrote down so far. */
  notes(event?: string): Note[] {
    if (!existsSync(this.ledger)) return [];
    const lines = readFileSync(this.ledger, "utf8").split("\n").slice(0, -1); // behind the last end a line is being written
    const notes = lines.map((line) => JSON.parse(line) as Note);
    return event === undefined ? notes : notes.filter((note) => note.event === event);
  }

  /** Resolves to the first note of the event, and of the key if one is given, behind the first `skip` ones. */
  noted(event: string, key?: string, skip = 0): Promise<Note> {
    return this.until(
      `the note ${event} ${key ?? ""}`,
      () => this.notes(event).filter((note) => key === undefined || note.key === key)[skip],
    );
  }

  /** Resolves when no job is stored any more, but in the archive. */
  drained(): Promise<unknown> {
    return this.until("all jobs to be done", async () => {
      const before = await this.catalog.counters();
      if (before.ready + before.planned + before.retrying > 0) return false;
      for await (const _ of this.catalog.claims()) return false;
      // A job that was claimed at the first look may have failed since: then the counters moved.
      return Bun.deepEquals(await this.catalog.counters(), before);
    });
  }

  until<T>(what: string, find: Parameters<typeof awaited<T>>[1]): Promise<T> {
    return awaited(what, find, {
      dump: () => this.nodes.map((node) => `--- node ${node.pid}\n${node.dump()}`).join("\n"),
    });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const node of this.nodes) {
      if (node.hasExited) continue;
      node.signal("SIGCONT");
      await node.kill();
    }
    await this.catalog.close();
    await this.store.close();
    await this.server?.stop();
    this.folder[Symbol.dispose]();
  }

  private publication(task: string, args: unknown[], setup: PublishSetup): Publication {
    const { channel = "default", maxFailures = 5, id = newJobId(), due } = setup;
    const argumentsJson = JSON.stringify(args);
    const payload = encodeEnvelope({ id, channel, task, argumentsJson, maxFailures, nowMs: Date.now() });
    return { id, channel, payload, ...(due === undefined ? {} : { due }) };
  }
}
