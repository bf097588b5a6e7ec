import { afterAll, beforeAll } from "bun:test";
import { RedisServer } from "../../support/redis-server.ts";
import { storeConformance } from "../conformance.ts";
import { redisHarness } from "./harness.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

storeConformance({ name: "Redis", open: (limits) => redisHarness(server.url, limits) });
