import { join } from "node:path";
import { RedisClient } from "bun";

/** The store that the demo works on, and how to leave nothing behind in it. */
export interface DemoStore {
  readonly url: string;
  remove(): Promise<void>;
}

/**
 * The store at `url`, or without one the embedded engine with a file in `folder`, which goes with that
 * folder. Of a Redis only the keys under `prefix` are used.
 */
export function demoStore({ url, prefix, folder }: DemoPlace): DemoStore {
  const store = url ?? `sqlite:${join(folder, "jobs.sqlite")}`;
  return {
    url: store,
    remove: store.startsWith("sqlite:") ? async () => {} : () => removeKeys(store, prefix),
  };
}

interface DemoPlace {
  readonly url: string | undefined;
  readonly prefix: string;
  readonly folder: string;
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
