import { closeSync, fsyncSync, openSync, rmSync, statfsSync, writeSync } from "node:fs";
import { join } from "node:path";

/** Takes all space of the disk but `left` bytes, until it is disposed of. */
export function diskFilled(folder: string, left: number): Disposable {
  const path = join(folder, "filler");
  const file = openSync(path, "w");
  const chunk = Buffer.alloc(64 * 1024);
  try {
    while (freeBytes(folder) > left)
      writeSync(file, chunk, 0, Math.min(chunk.length, freeBytes(folder) - left));
    fsyncSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOSPC") throw error;
  } finally {
    closeSync(file);
  }
  return { [Symbol.dispose]: () => rmSync(path) };
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
