import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { RedisClient } from "bun";
import { ensureRedisServer } from "../../test/support/redis-command.ts";
import { RedisServer } from "../../test/support/redis-server.ts";
import { layoutFor, type MarksLayout, marksEnvironment } from "../marks/layout.ts";
import { MarksReader } from "../marks/reader.ts";
import type { WorkerProcess } from "../method/worker-process.ts";
import { meterArguments, RedisMeter } from "./meter.ts";
import { type NodeOptions, startNode } from "./node.ts";
import { preferred } from "./preferred.ts";

/** More nodes starting at once would only wait for the cores. */
const startedAtOnce = 4;
const pollMs = 2;
const standstillMs = 60_000;

/** A private Redis and what is measured on it. Each point finds it empty. */
export class Rig {
  readonly server: RedisServer;
  readonly client: RedisClient;
  readonly meter: RedisMeter;
  /** Whether Redis runs before the nodes do, so that the times of its calls are its own. */
  readonly isRedisPreferred: boolean;

  private constructor(server: RedisServer, client: RedisClient, isRedisPreferred: boolean) {
    this.isRedisPreferred = isRedisPreferred;
    this.server = server;
    this.client = client;
    this.meter = new RedisMeter(client, server.pid);
  }

  static async open(): Promise<Rig> {
    ensureRedisServer();
    const server = await RedisServer.start({ args: [...meterArguments] });
    return new Rig(server, await server.client(), preferred(server.pid));
  }

  get url(): string {
    return this.server.url;
  }

  async version(): Promise<string> {
    const info = String(await this.client.send("INFO", ["server"]));
    return /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown";
  }

  /** Runs with nodes of their own on an emptied Redis; `capacity` is how many jobs they may run in all. */
  async site<T>(capacity: number, body: (site: GrowthSite) => Promise<T>): Promise<T> {
    await this.client.send("FLUSHALL", ["SYNC"]);
    const site = new GrowthSite(this, capacity);
    try {
      return await body(site);
    } finally {
      await site.close();
    }
  }

  async close(): Promise<void> {
    this.client.close();
    await this.server.stop();
  }
}

/** One measure's nodes and the jobs that they have run. */
export class GrowthSite {
  readonly rig: Rig;
  readonly nodes: WorkerProcess[] = [];
  private readonly folder = mkdtempSync(join(tmpdir(), "solid-jobs-growth-"));
  private readonly layout: MarksLayout;
  private readonly marks: MarksReader;

  constructor(rig: Rig, capacity: number) {
    this.rig = rig;
    this.layout = layoutFor(capacity);
    this.marks = new MarksReader(this.folder, this.layout);
  }

  /** Starts nodes of one kind; resolves when all have started. */
  async start(count: number, options: NodeOptions): Promise<void> {
    const env = marksEnvironment(this.folder, this.layout);
    for (let left = count; left > 0; left -= startedAtOnce) {
      const group = Array.from({ length: Math.min(left, startedAtOnce) }, () =>
        startNode(options, { url: this.rig.url, folder: this.folder, env }),
      );
      this.nodes.push(...group);
      await Promise.all(group.map((node) => node.untilReady()));
    }
  }

  /**
   * Resolves when so many jobs have ended, counted from the site's first.
   *
   * @returns when the last of them ended, epoch milliseconds
   * @throws Error when nothing runs for a minute, or a node ends
   */
  async ran(jobs: number): Promise<number> {
    let ran = this.marks.ran();
    let movedAt = performance.now();
    while (ran.executed < jobs) {
      await Bun.sleep(pollMs);
      const now = this.marks.ran();
      if (now.executed !== ran.executed) movedAt = performance.now();
      ran = now;
      const ended = this.nodes.find((node) => node.hasEnded);
      if (ended !== undefined) throw new Error(`a node ended while jobs were left; ${ended.said}`);
      if (performance.now() - movedAt > standstillMs)
        throw new Error(`nothing ran for 60 s; ${ran.executed} of ${jobs} jobs had run`);
    }
    return ran.lastMs;
  }

  /** @throws Error unless each of so many jobs has run once */
  assertEachRanOnce(jobs: number): void {
    const { executed, errors, duplicates } = this.marks.counts(jobs);
    if (executed === jobs && errors === 0 && duplicates === 0) return;
    throw new Error(
      `expected ${jobs} jobs to run once: ${executed} ran, ${errors} failed, ${duplicates} twice`,
    );
  }

  /** CPU microseconds of all nodes together, over the threads that they have now. */
  cpuUs(): number {
    const seconds = this.nodes.flatMap(({ tree }) => [...tree.threadSeconds().values()]);
    return seconds.reduce((sum, each) => sum + each, 0) * 1e6;
  }

  /** Resident memory of a node, on average. */
  rssMiB(): number {
    const all = this.nodes.map(({ tree }) => tree.sample().rssMiB);
    return all.reduce((sum, each) => sum + each, 0) / Math.max(1, all.length);
  }

  async close(): Promise<void> {
    await Promise.all(this.nodes.map((node) => node.stop().finally(() => node.kill())));
    rmSync(this.folder, { recursive: true, force: true });
  }
}
