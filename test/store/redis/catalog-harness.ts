import { RedisClient } from "bun";
import { randomHex } from "../../../src/foundation/ids.ts";
import { ownProof } from "../../../src/store/liveness.ts";
import { RedisCatalog } from "../../../src/store/redis/catalog.ts";
import { RedisKeys } from "../../../src/store/redis/keys.ts";
import { RedisTransfer } from "../../../src/store/redis/transfer.ts";
import type { CatalogHarness } from "../catalog/harness.ts";

/** A harness whose keys have a prefix of their own, on a server that the caller runs. */
export async function redisCatalogHarness(url: string): Promise<CatalogHarness> {
  const client = new RedisClient(url);
  await client.connect();
  const keys = new RedisKeys(`t${randomHex(6)}:`);
  const catalog = new RedisCatalog({ url, prefix: keys.prefix });
  const send = (command: string, ...args: (string | number | Uint8Array)[]) =>
    client.send(command, args as string[]);
  const bytesOf = async (expression: string, key: string): Promise<Uint8Array[]> => {
    // Each byte as the character of its number, because replies are read as UTF-8.
    const script = `local map, texts = {}, {}
      for b = 128, 255 do map[string.char(b)] = string.char(192 + math.floor(b / 64), 128 + b % 64) end
      for i, m in ipairs(${expression}) do texts[i] = string.gsub(m, '[\\128-\\255]', map) end
      return texts`;
    return ((await send("EVAL", script, 1, key)) as string[]).map((text) => Buffer.from(text, "latin1"));
  };
  const setKey = { planned: keys.planned, retrying: keys.retries, discarded: keys.discarded };
  const nowSeconds = () => Date.now() / 1000;
  const record = (id: string) =>
    JSON.stringify({ task_id: id, claim_token: `t-${id}`, channel: "default", claimed_at: 3.5, attempt: 2 });
  let unclaimed = 0;
  const transfer = new RedisTransfer({ url, prefix: keys.prefix });
  const harness: CatalogHarness = {
    catalog,
    transfer,
    journals: async () => (await send("KEYS", `${keys.prefix}transfer:*`)) as string[],
    async push(channel, ...payloads) {
      await send("SADD", keys.channels, channel);
      for (let i = 0; i < payloads.length; i += 500) {
        await send("LPUSH", keys.channel(channel), ...payloads.slice(i, i + 500));
      }
    },
    async channel(channel) {
      return (await bytesOf("redis.call('LRANGE', KEYS[1], 0, -1)", keys.channel(channel))).reverse();
    },
    async put(set, ...entries) {
      for (let i = 0; i < entries.length; i += 500) {
        await send("ZADD", setKey[set], ...entries.slice(i, i + 500).flat());
      }
    },
    set: (set) => bytesOf("redis.call('ZRANGE', KEYS[1], 0, -1)", setKey[set]),
    take: async (channel, count) => void (await send("RPOP", keys.channel(channel), count)),
    takeEarliest: async (set, count) => void (await send("ZREMRANGEBYRANK", setKey[set], 0, count - 1)),
    async count({ processed, failed }) {
      await send("MSET", keys.processed, processed, keys.failed, failed);
    },
    async node({ identity, info = "", beatSecondsAgo = 0, busy = 0, isQuiet = false, concurrency = 1 }) {
      await send("SADD", keys.nodes, identity);
      const fields = { info, beat: nowSeconds() - beatSecondsAgo, busy, quiet: isQuiet, concurrency };
      await send("HSET", keys.node(identity), ...Object.entries(fields).flatMap(([k, v]) => [k, String(v)]));
    },
    liveNode: (identity) =>
      harness.node({ identity, info: JSON.stringify({ hostname: "host", ttl: 3600, ...ownInfo() }) }),
    async claim(node, slot, { id, payload }) {
      await harness.emptyClaim(node, slot, id);
      await send("RPUSH", keys.claimed(node, "w", slot), payload);
    },
    emptyClaim: async (node, slot, id) =>
      void (await send("HSET", keys.nodeClaims(node), `w.${slot}`, record(id))),
    unclaimed: async (payload) => void (await send("RPUSH", keys.claimed("gone", "w", unclaimed++), payload)),
    running: async (node, executor, slot, json) =>
      void (await send("HSET", keys.nodeWork(node), `${executor}.${slot}`, json)),
    signals: async (node) => ((await send("LRANGE", keys.nodeSignals(node), 0, -1)) as string[]).reverse(),
    async ids(ids) {
      await send("SADD", `${keys.prefix}mine`, ...ids);
      return `${keys.prefix}mine`;
    },
    async close() {
      await catalog.close();
      await transfer.close();
      client.close();
    },
  };
  return harness;
}

/** The fields of a node's info that prove its life. */
export function ownInfo() {
  const { bootId, pidNamespace, pid, pidStarted } = ownProof();
  return { pid, boot_id: bootId, pid_ns: pidNamespace, pid_started: pidStarted };
}
