import { ensureRedisServer } from "../../test/support/redis-command.ts";
import { RedisServer } from "../../test/support/redis-server.ts";

/** The private Redis of a benchmark, on the same machine, without persistence. */
export class RedisPlace {
  private readonly server: RedisServer;

  private constructor(server: RedisServer) {
    this.server = server;
  }

  /** Installs `redis-server` where it is missing and may be installed. @throws Error where it may not */
  static async open(): Promise<RedisPlace> {
    ensureRedisServer();
    return new RedisPlace(await RedisServer.start());
  }

  get url(): string {
    return this.server.url;
  }

  get pid(): number {
    return this.server.pid;
  }

  /** As new: no key and no script is left, and nothing of the last run is still being freed. */
  async empty(): Promise<void> {
    await this.server.send("FLUSHALL", "SYNC");
    await this.server.send("SCRIPT", "FLUSH", "SYNC");
  }

  /** CPU seconds that it has used since its start. */
  async cpuSeconds(): Promise<number> {
    const info = String(await this.server.send("INFO", "cpu"));
    const seconds = (name: string) => Number(new RegExp(`${name}:([\\d.]+)`).exec(info)?.[1]);
    return seconds("used_cpu_user") + seconds("used_cpu_sys");
  }

  async version(): Promise<string> {
    const info = String(await this.server.send("INFO", "server"));
    return /redis_version:(\S+)/.exec(info)?.[1] ?? "unknown";
  }

  close(): Promise<void> {
    return this.server.stop();
  }
}
