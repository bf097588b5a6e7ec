import { readdirSync, statSync } from "node:fs";
import { join } from "node:path";

const intervalMs = 5;

/**
 * Looks at how long a server's append-only files are, again and again: what stands in one was done by the time
 * at which the file was that long. The server writes before it answers, so it is not late by much.
 */
export class AofSizes {
  private readonly folder: string;
  private readonly seen = new Map<string, { size: number; at: number }[]>();
  private readonly timer: ReturnType<typeof setInterval>;

  /** @param folder the server's own */
  constructor(folder: string) {
    this.folder = join(folder, "appendonlydir");
    this.timer = setInterval(() => this.look(), intervalMs);
  }

  stop(): void {
    clearInterval(this.timer);
    this.look();
  }

  /** The files that commands were appended to, the oldest first. */
  files(): string[] {
    const number = (name: string) => Number(/\.(\d+)\.incr\.aof$/.exec(name)?.[1]);
    return this.names()
      .sort((a, b) => number(a) - number(b))
      .map((name) => join(this.folder, name));
  }

  /** When the file was at least that long, at the latest. */
  longBy(path: string, size: number): number | undefined {
    const seen = this.seen.get(path) ?? [];
    let [low, high] = [0, seen.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((seen[middle]?.size ?? 0) < size) low = middle + 1;
      else high = middle;
    }
    return seen[low]?.at;
  }

  private names(): string[] {
    try {
      return readdirSync(this.folder).filter((name) => name.endsWith(".incr.aof"));
    } catch {
      return []; // the server has not made it yet
    }
  }

  private look(): void {
    for (const name of this.names()) {
      const path = join(this.folder, name);
      const size = statSync(path, { throwIfNoEntry: false })?.size ?? 0;
      const at = Date.now();
      const seen = this.seen.get(path) ?? [];
      this.seen.set(path, seen);
      // A server that comes up after a crash cuts off what is not whole.
      while ((seen.at(-1)?.size ?? 0) > size) seen.pop();
      if (seen.at(-1)?.size !== size) seen.push({ size, at });
    }
  }
}
