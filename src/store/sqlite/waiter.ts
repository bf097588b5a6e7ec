import type { ChannelWaiter } from "../store.ts";
import type { Engine } from "./engine.ts";

/** How often the file is asked whether another process wrote to it, while somebody waits. */
const pollMs = 30;

/**
 * Tells everybody who waits on one store that something may have become ready: at once when a thread of
 * this process says so, and by asking SQLite for the file's version now and then for what other processes
 * do. It rests while nobody waits.
 */
export class ChangeFeed {
  private readonly engine: Engine;
  private readonly waiting = new Set<() => void>();
  private users = 0;
  private isWatching = false;
  private changes = 0;
  private newsSeen = 0;
  private versionSeen: number | undefined;

  constructor(engine: Engine) {
    this.engine = engine;
  }

  /** Grows with each change that was noticed. */
  get count(): number {
    return this.changes;
  }

  /** Begins to watch, before the first look. */
  enter(): void {
    this.users += 1;
    if (this.isWatching) return;
    this.isWatching = true;
    this.newsSeen = this.engine.file.turns.newsCount;
    this.versionSeen = undefined;
    void this.watch();
  }

  leave(): void {
    this.users -= 1;
  }

  /** Resolves at the next change, after `timeoutMs`, or when `signal` is aborted. */
  changed(timeoutMs: number, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const done = () => {
        clearTimeout(timer);
        this.waiting.delete(done);
        signal.removeEventListener("abort", done);
        resolve();
      };
      const timer = setTimeout(done, timeoutMs);
      this.waiting.add(done);
      signal.addEventListener("abort", done, { once: true });
    });
  }

  private async watch(): Promise<void> {
    try {
      while (this.users > 0) {
        await this.engine.file.turns.news(this.newsSeen, pollMs);
        if (await this.hasChanged()) this.tell();
      }
    } finally {
      this.isWatching = false;
    }
  }

  /** A file that cannot be read counts as changed: whoever looks next gets the error. */
  private async hasChanged(): Promise<boolean> {
    const { newsSeen, versionSeen } = this;
    this.newsSeen = this.engine.file.turns.newsCount;
    try {
      this.versionSeen = await this.engine.read(
        (statements) => statements.dataVersion.get()?.data_version ?? 0,
      );
    } catch {
      this.versionSeen = undefined;
      return true;
    }
    return newsSeen !== this.newsSeen || versionSeen !== this.versionSeen;
  }

  private tell(): void {
    this.changes += 1;
    for (const tell of [...this.waiting]) tell();
  }
}

/** Waits for one channel of the file. */
export class SqliteChannelWaiter implements ChannelWaiter {
  private readonly engine: Engine;
  private readonly feed: ChangeFeed;
  private readonly channel: string;
  private readonly closing = new AbortController();

  constructor(engine: Engine, feed: ChangeFeed, channel: string) {
    this.engine = engine;
    this.feed = feed;
    this.channel = channel;
  }

  async wait(timeoutMs: number): Promise<"ready" | "quiet" | "paused" | "closed"> {
    const { signal } = this.closing;
    if (signal.aborted) return "closed";
    const endsAt = performance.now() + timeoutMs;
    this.feed.enter();
    try {
      for (;;) {
        const seen = this.feed.count;
        const state = await this.look();
        if (signal.aborted) return "closed";
        if (state !== "quiet") return state;
        const leftMs = endsAt - performance.now();
        if (leftMs <= 0) return "quiet";
        if (this.feed.count === seen) await this.feed.changed(leftMs, signal);
      }
    } finally {
      this.feed.leave();
    }
  }

  close(): void {
    this.closing.abort();
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
