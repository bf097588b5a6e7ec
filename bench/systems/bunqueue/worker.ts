/** A bunqueue worker process on its SQLite file: `worker.ts <url> <concurrency>`. */
import { shutdownManager, Worker } from "bunqueue/client";
import { pathOf } from "../javascript.ts";
import { openJob } from "../job.ts";
import { queueName } from "./queue.ts";

const [url = "", concurrency = "1"] = process.argv.slice(2);
const job = openJob();
const worker = new Worker<{ index: number }>(queueName, async ({ data }) => job(data.index), {
  embedded: true,
  dataPath: pathOf(url),
  concurrency: Number(concurrency),
  // Pulls as many at a time as it has room for: without this it pulls 10.
  batchSize: Number(concurrency),
  removeOnComplete: true,
});
worker.on("error", (error) => console.error(error));
process.once("SIGTERM", async () => {
  await worker.close();
  shutdownManager();
  process.exit(0);
});
console.log("node started");
