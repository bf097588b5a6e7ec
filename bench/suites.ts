import { Database } from "bun:sqlite";
import { ensureRedisServer } from "../test/support/redis-command.ts";
import { backlog } from "./measures/backlog.ts";
import { embeddedPublishing } from "./measures/embedded-publishing.ts";
import { embeddedThroughput } from "./measures/embedded-throughput.ts";
import { executableStart } from "./measures/executable-start.ts";
import { latency } from "./measures/latency.ts";
import { lateness } from "./measures/lateness.ts";
import type { Measure } from "./measures/measure.ts";
import { memory } from "./measures/memory.ts";
import { publishing } from "./measures/publishing.ts";
import { throughput } from "./measures/throughput.ts";
import { waking } from "./measures/waking.ts";
import { FileStage, fileSystem } from "./support/file-stage.ts";
import { versions } from "./support/machine.ts";
import { Stage } from "./support/stage.ts";

/** Measures of one engine, and where they take place. */
export interface Suite<S extends { close(): Promise<void> }> {
  readonly name: string;
  readonly measures: readonly Measure<S>[];
  open(): Promise<S>;
  /** What is measured, with what. */
  facts(stage: S): Promise<Record<string, string>>;
}

export const redisSuite: Suite<Stage> = {
  name: "redis",
  measures: [throughput, memory, latency, lateness, publishing],
  open() {
    ensureRedisServer();
    return Stage.open();
  },
  facts: async (stage) => ({ ...versions(["bullmq", "ioredis"]), redis: await stage.redisVersion() }),
};

export const embeddedSuite: Suite<FileStage> = {
  name: "embedded",
  measures: [embeddedThroughput, embeddedPublishing, backlog, executableStart, waking],
  open: async () => new FileStage(),
  facts: async () => ({
    ...versions(["bunqueue", "plainjob"]),
    ...{ sqlite: sqliteVersion(), durability: "WAL, synchronous=NORMAL", "file system": fileSystem() },
  }),
};

function sqliteVersion(): string {
  const database = new Database(":memory:");
  const found = database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get();
  database.close();
  return found?.version ?? "unknown";
}
