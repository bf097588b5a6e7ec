/** A bunqueue worker process on its SQLite file: `bun node.ts <url> <concurrency>`. */
import { shutdownManager, Worker } from "bunqueue/client";
import { openMarks } from "../../support/marks.ts";
import { pathOf } from "../path-of.ts";
import { queueName } from "./queue.ts";

const [url = "", concurrency = "1"] = Bun.argv.slice(2);
const mark = openMarks();
const worker = new Worker<{ index: number }>(queueName, async (job) => mark(job.data.index), {
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
