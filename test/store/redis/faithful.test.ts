import { afterAll, beforeAll } from "bun:test";
import type { RedisClient } from "bun";
import { RedisServer } from "../../support/redis-server.ts";
import { storeFaithfulness } from "../faithful.ts";
import { redisHarness } from "./harness.ts";

let server: RedisServer;
let binary: RedisClient;
beforeAll(async () => {
  server = await RedisServer.start();
  binary = await server.client();
});
afterAll(async () => {
  binary.close();
  await server.stop();
});

const keys = { channel: "channel:default", retries: "retries", discarded: "discarded" };
const copyScript =
  "local k = redis.call('TYPE', KEYS[1]).ok == 'zset' and redis.call('ZRANGE', KEYS[1], 0, -1) or redis.call('LRANGE', KEYS[1], 0, -1) " +
  "if #k ~= 1 then return redis.error_reply('ERR expected one element, found ' .. #k) end redis.call('SET', KEYS[2], k[1], 'PX', 5000)";

storeFaithfulness({
  name: "Redis",
  async open() {
    const harness = await redisHarness(server.url);
    const copy = `${harness.prefix}test-copy`;
    const onlyBytes = async (place: keyof typeof keys) => {
      await binary.send("EVAL", [copyScript, "2", `${harness.prefix}${keys[place]}`, copy]);
      return Buffer.from((await binary.getBuffer(copy))!);
    };
    return { ...harness, onlyBytes };
  },
});
