import { mkdtempSync, rmSync, statfsSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { NodeShape, System } from "../systems/system.ts";
import type { MarksLayout } from "./marks.ts";
import { Run } from "./stage.ts";

/** Where runs on SQLite files take place: each has a file and a folder of its own. */
export class FileStage {
  /** One run; whatever happens, its node and its folder end with it. */
  async run<T>(
    { system, shape, layout }: { system: System; shape: NodeShape; layout: MarksLayout },
    body: (run: Run) => Promise<T>,
  ): Promise<T> {
    return this.inFolder(async (folder) => {
      const run = new Run({ system, url: this.urlIn(folder), shape, folder, layout });
      try {
        return await body(run);
      } finally {
        await run.node?.kill();
      }
    });
  }

  async inFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
    const folder = mkdtempSync(join(tmpdir(), "solid-jobs-bench-"));
    try {
      return await body(folder);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  }

  urlIn(folder: string): string {
    return `sqlite:${join(folder, "jobs.sqlite")}`;
  }

  async close(): Promise<void> {}
}

// From Linux' linux/magic.h.
const fileSystems: Readonly<Record<number, string>> = {
  61267: "ext",
  16914836: "tmpfs",
  2035054128: "overlayfs",
  2435016766: "btrfs",
  1481003842: "xfs",
};

/** The kind of file system that temporary files are on: SQLite is as fast as its disk. */
export function fileSystem(): string {
  const { type } = statfsSync(tmpdir());
  return fileSystems[type] ?? `0x${type.toString(16)}`;
}
