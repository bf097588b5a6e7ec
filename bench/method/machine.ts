import { Database } from "bun:sqlite";
import { statfsSync } from "node:fs";
import { arch, availableParallelism, cpus, loadavg, release, tmpdir, totalmem, type } from "node:os";
import type { System } from "../systems/system.ts";

/** Where a benchmark ran. */
export interface Machine {
  readonly processor: string;
  readonly cores: number;
  readonly memoryGiB: number;
  readonly system: string;
  /** Of the folder for temporary files: SQLite is as fast as its disk. */
  readonly fileSystem: string;
  /** Load average of the last minute as the run begins: other work on the machine shows here. */
  readonly loadBefore: number;
}

export function thisMachine(): Machine {
  return {
    processor: cpus()[0]?.model ?? "unknown",
    cores: availableParallelism(),
    memoryGiB: Math.round(totalmem() / 2 ** 30),
    system: `${type()} ${release()} ${arch()}`,
    fileSystem: fileSystem(),
    loadBefore: loadavg()[0] ?? 0,
  };
}

/** Of Bun, of SQLite and of the systems. */
export function versionsOf(systems: readonly System[]): Record<string, string> {
  return {
    bun: `${Bun.version}+${Bun.revision.slice(0, 9)}`,
    sqlite: sqliteVersion(),
    ...Object.assign({}, ...systems.map((system) => system.versions())),
  };
}

// From Linux' linux/magic.h.
const fileSystems: Readonly<Record<number, string>> = {
  61267: "ext",
  16914836: "tmpfs",
  2035054128: "overlayfs",
  2435016766: "btrfs",
  1481003842: "xfs",
};

function fileSystem(): string {
  const { type } = statfsSync(tmpdir());
  return fileSystems[type] ?? `0x${type.toString(16)}`;
}

function sqliteVersion(): string {
  const database = new Database(":memory:");
  const found = database.query<{ version: string }, []>("SELECT sqlite_version() AS version").get();
  database.close();
  return found?.version ?? "unknown";
}
