import { RedisClient } from "bun";
import { encodeEnvelope } from "../../src/envelope/codec.ts";
import { newJobId } from "../../src/foundation/ids.ts";
import { ensureRedisServer } from "../../test/support/redis-command.ts";
import { RedisServer } from "../../test/support/redis-server.ts";
import { preferred } from "../growth/preferred.ts";

/** What Redis has done so far. */
export interface Work {
  /** In scripts and functions, by its own clock. */
  readonly scriptUs: number;
  readonly cpuUs: number;
  readonly bytesRead: number;
  readonly bytesWritten: number;
  /** Calls and microseconds of each command, those inside scripts too. */
  readonly commands: ReadonlyMap<string, { readonly calls: number; readonly us: number }>;
}

/** A private Redis, which runs before other processes where the system allows it, and a client for looking. */
export class Stand {
  readonly server: RedisServer;
  readonly client: RedisClient;

  private constructor(server: RedisServer, client: RedisClient) {
    this.server = server;
    this.client = client;
  }

  static async open(args: readonly string[] = []): Promise<Stand> {
    ensureRedisServer();
    const server = await RedisServer.start({ args });
    preferred(server.pid);
    return new Stand(server, await server.client());
  }

  /** A connection that writes each command at once, as workers have it. */
  async worker({ enableAutoPipelining = false } = {}): Promise<RedisClient> {
    const client = new RedisClient(this.server.url, { enableAutoPipelining, autoReconnect: false });
    await client.connect();
    return client;
  }

  empty(): Promise<unknown> {
    return this.client.send("FLUSHALL", ["SYNC"]);
  }

  async work(): Promise<Work> {
    const info = String(await this.client.send("INFO", ["everything"]));
    const number = (name: string) => Number(new RegExp(`\\b${name}:([\\d.]+)`).exec(info)?.[1] ?? 0);
    const commands = new Map<string, { calls: number; us: number }>();
    for (const [, name, calls, us] of info.matchAll(/cmdstat_([\w|-]+):calls=(\d+),usec=(\d+)/g)) {
      commands.set(name as string, { calls: Number(calls), us: Number(us) });
    }
    const usOf = (name: string) => commands.get(name)?.us ?? 0;
    return {
      scriptUs: usOf("evalsha") + usOf("fcall"),
      cpuUs: (number("used_cpu_user") + number("used_cpu_sys")) * 1e6,
      bytesRead: number("total_net_input_bytes"),
      bytesWritten: number("total_net_output_bytes"),
      commands,
    };
  }

  async close(): Promise<void> {
    this.client.close();
    await this.server.stop();
  }
}

/** Runs with a stand that is closed afterwards. */
export async function onStand<T>(body: (stand: Stand) => Promise<T>, args?: readonly string[]): Promise<T> {
  const stand = await Stand.open(args);
  try {
    return await body(stand);
  } finally {
    stand.client.close();
    await stand.server.stop();
  }
}

export const channel = "default";

/** The text of a no-op job, 246 bytes; longer by a text of `ballast` bytes. */
export function payloadOf(index: number, ballast = 0): string {
  return encodeEnvelope({
    ...{ id: newJobId(), channel, task: "Grow", maxFailures: 25, nowMs: Date.now() },
    argumentsJson: ballast === 0 ? `[${index}]` : `[${index},"${"x".repeat(ballast)}"]`,
  });
}
