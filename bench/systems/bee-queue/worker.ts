/** A bee-queue worker process: `worker.ts <url> <concurrency>`. */
import { openJob } from "../job.ts";
import { openQueue } from "./queue.ts";

const stallCheckMs = 5000;

const [url = "", concurrency = "1"] = process.argv.slice(2);
const job = openJob();
const queue = openQueue(url, true);
queue.on("error", (error) => console.error(error));
await queue.ready();
await queue.checkStalledJobs(stallCheckMs);
queue.process(Number(concurrency), async ({ data }) => job(data.index));
process.once("SIGTERM", async () => {
  await queue.close(5000);
  process.exit(0);
});
console.log("node started");
