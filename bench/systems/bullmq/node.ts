/** A BullMQ worker process: `bun node.ts <url> <concurrency>`. */
import { Worker } from "bullmq";
import { openMarks } from "../../support/marks.ts";
import { connectionTo, queueName } from "./queue.ts";

const [url = "", concurrency = "1"] = Bun.argv.slice(2);
const mark = openMarks();
const worker = new Worker<{ index: number }>(queueName, async (job) => mark(job.data.index), {
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
