/** A groupmq worker process: `worker.ts <url> <concurrency>`. */
import { Worker } from "groupmq";
import { openJob } from "../job.ts";
import { openQueue } from "./queue.ts";

const [url = "", concurrency = "1"] = process.argv.slice(2);
const job = openJob();
const queue = openQueue(url);
const worker = new Worker({
  queue,
  concurrency: Number(concurrency),
  handler: async ({ data }) => job(data.index),
  onError: (error) => console.error(error),
});
worker.on("ready", () => console.log("node started"));
worker.on("error", (error) => console.error(error));
worker.run().catch((error) => {
  console.error(error);
  process.exit(1);
});
process.once("SIGTERM", async () => {
  await worker.close(5000);
  process.exit(0);
});
