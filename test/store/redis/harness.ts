import { RedisClient } from "bun";
import { randomHex } from "../../../src/foundation/ids.ts";
import { RedisStore, type RedisStoreOptions } from "../../../src/store/redis/store.ts";
import type { Publication } from "../../../src/store/store.ts";
import type { DuePayload, StoreHarness } from "../conformance/harness.ts";

export interface RedisHarness extends StoreHarness {
  readonly store: RedisStore;
  readonly prefix: string;
  /** Any command on a plain connection. */
  send(command: string, ...args: (string | number | Uint8Array)[]): Promise<unknown>;
  /** A further store with other options, not opened. */
  storeWith(options: Partial<RedisStoreOptions>): RedisStore;
}

/** A harness whose keys have a prefix of their own, on a server that the caller runs. */
export async function redisHarness(
  url: string,
  options: Partial<RedisStoreOptions> = {},
): Promise<RedisHarness> {
  const prefix = `t${randomHex(6)}:`;
  const client = new RedisClient(url);
  await client.connect();
  const stores: RedisStore[] = [];
  const storeWith = (more: Partial<RedisStoreOptions>) => {
    const store = new RedisStore({
      url,
      prefix,
      allowEviction: false,
      discardedLimit: 10_000,
      discardedRetention: 180,
      ...options,
      ...more,
    });
    stores.push(store);
    return store;
  };
  const send = (command: string, ...args: (string | number | Uint8Array)[]) =>
    client.send(command, args as string[]);
  const key = (name: string) => `${prefix}${name}`;
  const nodeKey = (node: string) => key(`node:${node}`);
  const another = async () => {
    const store = storeWith({});
    await store.open();
    return store;
  };
  const sorted = async (name: string): Promise<DuePayload[]> => {
    const pairs = (await send("ZRANGE", key(name), 0, -1, "WITHSCORES")) as [string, number][];
    return pairs.map(([payload, score]) => ({ payload, atMs: Math.round(score * 1e6) / 1e3 }));
  };
  return {
    store: await another(),
    prefix,
    send,
    storeWith,
    another,
    push: async (channel, payload) => void (await send("LPUSH", key(`channel:${channel}`), payload)),
    channel: async (channel) =>
      ((await send("LRANGE", key(`channel:${channel}`), 0, -1)) as string[]).reverse(),
    knownChannels: async () => (await send("SMEMBERS", key("channels"))) as string[],
    pause: async (channel) => void (await send("SADD", key("paused_channels"), channel)),
    resume: async (channel) => void (await send("SREM", key("paused_channels"), channel)),
    planned: () => sorted("planned"),
    retries: () => sorted("retries"),
    discarded: () => sorted("discarded"),
    put: async (where, payload, atMs) => void (await send("ZADD", key(where), atMs / 1000, payload)),
    async counters() {
      const values = (await send("MGET", key("metrics:processed"), key("metrics:failed"))) as (
        | string
        | null
      )[];
      return { processed: Number(values[0] ?? 0), failed: Number(values[1] ?? 0) };
    },
    crashes: async (jobId) => Number((await send("GET", key(`crashes:${jobId}`))) ?? 0),
    async nowMs() {
      const [seconds, micros] = (await send("TIME")) as [string, string];
      return Number(seconds) * 1000 + Number(micros) / 1000;
    },
    async claims(node) {
      const records = (await send("HVALS", `${nodeKey(node)}:claims`)) as string[];
      return records.map((record) => (JSON.parse(record) as { task_id: string }).task_id);
    },
    async plantClaims(node, given) {
      await Promise.all(given.map((each, i) => plantClaim(each, `w${i}.0`)));
      async function plantClaim({ id, channel, payload }: Publication, executor: string) {
        const record = {
          task_id: id,
          claim_token: `t${executor}`,
          node_id: node,
          executor_id: executor,
          channel,
        };
        await send(
          "HSET",
          `${nodeKey(node)}:claims`,
          executor,
          JSON.stringify({ ...record, claimed_at: 5, attempt: 1 }),
        );
        await send("LPUSH", `${nodeKey(node)}:claimed:${executor}`, payload);
      }
    },
    losePayload: async ({ node, executor }, slot) =>
      void (await send("DEL", `${nodeKey(node)}:claimed:${executor}.${slot}`)),
    loseRecord: async ({ node, executor }, slot) =>
      void (await send("HDEL", `${nodeKey(node)}:claims`, `${executor}.${slot}`)),
    async setBeat(node, { secondsAgo, steadySeconds }) {
      const now = Number(((await send("TIME")) as string[])[0]);
      if (secondsAgo !== undefined) await send("HSET", nodeKey(node), "beat", now - secondsAgo);
      if (steadySeconds !== undefined)
        await send("HSET", nodeKey(node), "beating_since", now - steadySeconds);
    },
    async spoilNode(node, what) {
      if (what === "beat") await send("HDEL", nodeKey(node), "beat");
      if (what === "record") await send("DEL", nodeKey(node));
      if (what === "name") await send("SREM", key("nodes"), node);
    },
    isNodeStored: async (node) =>
      (await send("EXISTS", nodeKey(node))) === 1 || (await send("SISMEMBER", key("nodes"), node)) === 1,
    signal: async (node, signal) => void (await send("LPUSH", `${nodeKey(node)}:signals`, signal)),
    async close() {
      await Promise.all(stores.map((store) => store.close()));
      client.close();
    },
  };
}
