import { mkdtempSync, rmdirSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** A file system of its own in memory; unmounted when the test's `using` ends. */
export interface SmallDisk {
  readonly path: string;
  /** From now on nothing on it can be written. */
  makeReadOnly(): void;
  [Symbol.dispose](): void;
}

/** Why this machine cannot mount one, or undefined. */
export const noSmallDisk: string | undefined = reasonAgainst();

export function smallDisk(megabytes: number): SmallDisk {
  const path = mkdtempSync(join(tmpdir(), "solid-jobs-disk-"));
  command("mount", "-t", "tmpfs", "-o", `size=${megabytes}m`, "tmpfs", path);
  return {
    path,
    makeReadOnly: () => command("mount", "-o", "remount,ro", path),
    [Symbol.dispose]: () => {
      command("umount", path);
      rmdirSync(path);
    },
  };
}

function command(...line: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(line);
  if (exitCode !== 0) throw new Error(`${line.join(" ")} failed: ${stderr}`);
}

function reasonAgainst(): string | undefined {
  if (process.platform !== "linux") return "mounts a tmpfs, which only Linux has";
  if (process.getuid?.() !== 0) return "mounts a tmpfs, which needs root";
  try {
    smallDisk(1)[Symbol.dispose]();
    return undefined;
  } catch (error) {
    return `no tmpfs can be mounted here: ${(error as Error).message.trim()}`;
  }
}
