import { existsSync, readFileSync } from "node:fs";
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

/** Of Bun, of what is measured, and of the packages it is compared with. */
export function versions(packages: readonly string[]): Record<string, string> {
  const peers = packages.map((name) => [name, versionIn(join(bench, "node_modules", name)) ?? "missing"]);
  return {
    bun: `${Bun.version}+${Bun.revision.slice(0, 9)}`,
    "solid-jobs": versionIn(join(bench, "..")) ?? "unknown",
    ...Object.fromEntries(peers),
  };
}

/** The version of the package in a folder; undefined where there is none. */
export function versionIn(folder: string): string | undefined {
  const file = join(folder, "package.json");
  return existsSync(file)
    ? (JSON.parse(readFileSync(file, "utf8")) as { version: string }).version
    : undefined;
}
