import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisServer } from "../../test/support/redis-server.ts";
import type { NodeShape, System } from "../systems/system.ts";
import type { MarksLayout } from "./marks.ts";
import { MarksReader, type Ran } from "./marks-reader.ts";
import { NodeProcess } from "./node.ts";

const pollMs = 20;
/** A node that runs nothing for this long, with jobs left, has failed. */
const standstillMs = 30_000;

/** The private Redis of a benchmark and what runs on it. Each run finds it empty. */
export class Stage {
  readonly server: RedisServer;

  private constructor(server: RedisServer) {
    this.server = server;
  }

  static async open(): Promise<Stage> {
    return new Stage(await RedisServer.start());
  }

  get url(): string {
    return this.server.url;
  }

  close(): Promise<void> {
    return this.server.stop();
  }

  /** CPU seconds that Redis has used. */
  async redisCpuSeconds(): Promise<number> {
    const info = String(await this.server.send("INFO", "cpu"));
    const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
    return seconds("used_cpu_user") + seconds("used_cpu_sys");
  }

  async redisVersion(): Promise<string> {
    const info = String(await this.server.send("INFO", "server"));
    return /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown";
  }

  /** One run on an empty Redis, with a folder of its own; whatever happens, its node ends with it. */
  async run<T>(
    { system, shape, layout }: { system: System; shape: NodeShape; layout: MarksLayout },
    body: (run: Run) => Promise<T>,
  ): Promise<T> {
    await this.server.send("FLUSHALL");
    const folder = mkdtempSync(join(tmpdir(), "solid-jobs-bench-"));
    const run = new Run({ system, url: this.url, shape, folder, layout });
    try {
      return await body(run);
    } finally {
      await run.node?.kill();
      rmSync(folder, { recursive: true, force: true });
    }
  }
}

/** One measure's node and its marks. */
export class Run {
  readonly options: { system: System; url: string; shape: NodeShape; folder: string; layout: MarksLayout };
  readonly marks: MarksReader;
  node: NodeProcess | undefined;

  constructor(options: Run["options"]) {
    this.options = options;
    this.marks = new MarksReader(options.folder, options.layout);
  }

  async startNode(): Promise<NodeProcess> {
    this.node = new NodeProcess(this.options.system, this.options);
    return this.node.start();
  }

  /** Resolves when `jobs` jobs have run, each once. @throws Error when the node stands still or ends */
  async allRan(jobs: number): Promise<Ran> {
    let ran = this.marks.ran();
    let movedAt = performance.now();
    while (ran.count < jobs) {
      await Bun.sleep(pollMs);
      const now = this.marks.ran();
      if (now.count !== ran.count) movedAt = performance.now();
      ran = now;
      if (this.node?.hasEnded) throw new Error(`the node ended when ${ran.count} of ${jobs} jobs had run`);
      if (performance.now() - movedAt > standstillMs)
        throw new Error(`nothing ran for 30 s; ${ran.count} of ${jobs} jobs had run`);
    }
    this.marks.assertEachRanOnce(jobs);
    return ran;
  }
}
