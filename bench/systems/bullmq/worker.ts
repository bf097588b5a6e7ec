/** A BullMQ worker process: `worker.ts <url> <concurrency>`. */
import { Worker } from "bullmq";
import { openJob } from "../job.ts";
import { connectionTo, queueName } from "./queue.ts";

const [url = "", concurrency = "1"] = process.argv.slice(2);
const job = openJob();
const worker = new Worker<{ index: number }>(queueName, async ({ data }) => job(data.index), {
  connection: connectionTo(url),
  concurrency: Number(concurrency),
  removeOnComplete: { count: 0 },
});
worker.on("error", (error) => console.error(error));
await worker.waitUntilReady();
process.once("SIGTERM", async () => {
  await worker.close();
  process.exit(0);
});
console.log("node started");
