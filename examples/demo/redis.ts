import { RedisClient } from "bun";
import { ensureRedisServer } from "../../test/support/redis-command.ts";
import { RedisServer } from "../../test/support/redis-server.ts";

/** The Redis that the demo works on, and how to leave nothing behind in it. */
export interface DemoRedis {
  readonly url: string;
  remove(): Promise<void>;
}

/** The server at `url`, of which only the keys under `prefix` are used, or a private one without a URL. */
export async function demoRedis(url: string | undefined, prefix: string): Promise<DemoRedis> {
  if (url !== undefined) return { url, remove: () => removeKeys(url, prefix) };
  ensureRedisServer();
  const server = await RedisServer.start();
  return { url: server.socketUrl, remove: () => server.stop() };
}

async function removeKeys(url: string, prefix: string): Promise<void> {
  const client = new RedisClient(url, { autoReconnect: false });
  try {
    let cursor = "0";
    do {
      const page = await client.send("SCAN", [cursor, "MATCH", `${prefix}*`, "COUNT", "1000"]);
      const [next, keys] = page as [string, string[]];
      if (keys.length > 0) await client.send("UNLINK", keys);
      cursor = next;
    } while (cursor !== "0");
  } catch (error) {
    // Said here, so that it does not take the place of what went wrong before.
    console.error(`demo: keys that begin with ${prefix} may be left in Redis: ${(error as Error).message}`);
  } finally {
    client.close();
  }
}
