/** Serial PINGs: `worker.ts <url>`. */
import { RedisClient } from "bun";
import { openJob } from "../job.ts";

const [url = ""] = process.argv.slice(2);
const redis = new RedisClient(url);
process.once("SIGTERM", () => process.exit(0));
const pings = Number(await redis.get("bench:pings"));
const job = openJob();
console.log("node started");
for (let index = 0; index < pings; index++) {
  await redis.send("PING", []);
  job(index);
}
// Until it is told to end.
setInterval(() => {}, 60_000);
