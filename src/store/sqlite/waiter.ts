import { type FSWatcher, watch } from "node:fs";
import { basename, dirname } from "node:path";
import { pause } from "../../foundation/time.ts";
import type { ChannelWaiter } from "../store.ts";
import type { Engine } from "./engine.ts";

/** The file is looked at this often where no event tells of a change. */
const pollMs = 40;
/** A change must be followed by a look, so events closer together than this are one. */
const eventMs = 1;

/** Tells everybody who waits on one file that somebody wrote to it: by the system's events on its log. */
export class ChangeFeed {
  private readonly path: string;
  private watcher: FSWatcher | undefined;
  private readonly waiting = new Set<() => void>();
  private users = 0;

  constructor(path: string) {
    this.path = path;
  }

  open(): void {
    this.users += 1;
    if (this.watcher !== undefined) return;
    const log = `${basename(this.path)}-wal`;
    this.watcher = watch(dirname(this.path), { persistent: false }, (_, name) => {
      if (name === log) for (const tell of [...this.waiting]) tell();
    });
    this.watcher.on("error", () => this.watcher?.close()); // polling goes on
  }

  close(): void {
    this.users -= 1;
    if (this.users > 0) return;
    this.watcher?.close();
    this.watcher = undefined;
  }

  /** Resolves at the next change, after `pollMs`, or when `signal` is aborted. */
  changed(signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, pollMs);
      this.waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }
}

/** Waits for one channel of the file. */
export class SqliteChannelWaiter implements ChannelWaiter {
  private readonly engine: Engine;
  private readonly feed: ChangeFeed;
  private readonly channel: string;
  private readonly closing = new AbortController();
  private isListening = false;

  constructor(engine: Engine, feed: ChangeFeed, channel: string) {
    this.engine = engine;
    this.feed = feed;
    this.channel = channel;
  }

  async wait(timeoutMs: number): Promise<"ready" | "quiet" | "paused" | "closed"> {
    const { signal } = this.closing;
    if (signal.aborted) return "closed";
    if (!this.isListening) this.feed.open();
    this.isListening = true;
    const endsAt = performance.now() + timeoutMs;
    for (;;) {
      const state = await this.look();
      if (state !== "quiet") return state;
      if (performance.now() >= endsAt) return "quiet";
      await this.feed.changed(signal);
      if (signal.aborted) return "closed";
      await pause(eventMs, signal);
    }
  }

  close(): void {
    if (this.closing.signal.aborted) return;
    this.closing.abort();
    if (this.isListening) this.feed.close();
  }

  private look(): Promise<"ready" | "quiet" | "paused"> {
    return this.engine.read((statements) => {
      const id = this.engine.knownChannelId(statements, this.channel);
      if (id === undefined) return "quiet";
      if (statements.pausedChannels.all().some((channel) => channel.id === id)) return "paused";
      return statements.hasReady.get(id) === null ? "quiet" : "ready";
    });
  }
}
