// Whose processes end first: they may still write there.
import "./processes.ts";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const folders = new Set<string>();

// Also when the benchmark is interrupted.
process.on("exit", () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A folder that is there for as long as `body` runs. */
export async function inTemporaryFolder<T>(body: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), "solid-jobs-bench-"));
  folders.add(folder);
  try {
    return await body(folder);
  } finally {
    folders.delete(folder);
    rmSync(folder, { recursive: true, force: true });
  }
}
