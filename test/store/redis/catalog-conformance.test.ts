import { afterAll, beforeAll } from "bun:test";
import { RedisServer } from "../../support/redis-server.ts";
import { catalogConformance } from "../catalog-conformance.ts";
import { redisCatalogHarness } from "./catalog-harness.ts";

let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterAll(() => server.stop());

catalogConformance({ name: "Redis", open: () => redisCatalogHarness(server.url) });
