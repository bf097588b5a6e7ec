import { RedisClient } from "bun";
import { serveClient } from "../client-main.ts";

/** Its queue is a key with the number of pings. */
await serveClient((url) => {
  const redis = new RedisClient(url);
  return {
    publishMany: (_from, to) => redis.set("bench:pings", String(to)),
    publish: () => Promise.reject(new Error("pings are not published")),
    close: async () => redis.close(),
  };
});
