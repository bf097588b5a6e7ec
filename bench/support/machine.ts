import { readFileSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, release, totalmem, type } from "node:os";
import { join } from "node:path";

export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  /** Load average of the last minute as the run begins: other work on the machine shows here. */
  readonly loadBefore: number;
}

export function thisMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${arch()}`,
    loadBefore: loadavg()[0] ?? 0,
  };
}

const bench = join(import.meta.dir, "..");

/** Of what is measured, and with what. */
export function versions(redis: string): Record<string, string> {
  return {
    bun: `${Bun.version}+${Bun.revision.slice(0, 9)}`,
    redis,
    "solid-jobs": versionIn(join(bench, "..", "package.json")),
    bullmq: versionIn(join(bench, "node_modules", "bullmq", "package.json")),
    ioredis: versionIn(join(bench, "node_modules", "ioredis", "package.json")),
  };
}

function versionIn(file: string): string {
  return (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version;
}
