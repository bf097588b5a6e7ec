import { StoreFull, StoreUnavailable } from "../../foundation/errors.ts";
import { pause } from "../../foundation/time.ts";
import type { ChannelWaiter } from "../store.ts";
import type { RedisAddress } from "./address.ts";
import { RedisConnection } from "./connection.ts";
import type { RedisKeys } from "./keys.ts";

/** How often a channel is looked at where the server refuses blocking peeks (at maxmemory). */
const pollMs = 250;

/**
 * Waits for one channel on a connection of its own by a blocking peek: moving a list's last element to
 * its own end leaves it as it is, returns at once when there is one, and is woken by any member's push.
 */
export class RedisChannelWaiter implements ChannelWaiter {
  private readonly connection: RedisConnection;
  private readonly keys: RedisKeys;
  private readonly channel: string;
  private readonly closing = new AbortController();

  constructor(address: RedisAddress, keys: RedisKeys, channel: string) {
    this.connection = new RedisConnection(address);
    this.keys = keys;
    this.channel = channel;
  }

  async wait(timeoutMs: number): Promise<"ready" | "quiet" | "paused" | "closed"> {
    if (this.closing.signal.aborted) return "closed";
    try {
      if (await this.isPaused()) return "paused";
      return (await this.peek(timeoutMs)) ? "ready" : "quiet";
    } catch (error) {
      if (this.closing.signal.aborted) return "closed";
      if (error instanceof StoreFull) return this.poll(timeoutMs);
      throw error;
    }
  }

  close(): void {
    this.closing.abort();
    this.connection.close();
  }

  private async isPaused(): Promise<boolean> {
    return (await this.connection.call("SISMEMBER", [this.keys.pausedChannels, this.channel])) === 1;
  }

  private async peek(timeoutMs: number): Promise<boolean> {
    const list = this.keys.channel(this.channel);
    const seconds = Math.max(timeoutMs, 10) / 1000;
    const found = await this.connection.call("BLMOVE", [list, list, "RIGHT", "RIGHT", seconds], {
      deadlineMs: timeoutMs + 5000,
    });
    return found !== null;
  }

  private async poll(timeoutMs: number): Promise<"ready" | "quiet" | "closed"> {
    const endsAt = performance.now() + timeoutMs;
    while (performance.now() < endsAt) {
      try {
        if (Number(await this.connection.call("LLEN", [this.keys.channel(this.channel)])) > 0) return "ready";
      } catch (error) {
        if (!(error instanceof StoreUnavailable) || !this.closing.signal.aborted) throw error;
      }
      if (this.closing.signal.aborted) return "closed";
      await pause(pollMs, this.closing.signal);
    }
    return "quiet";
  }
}
