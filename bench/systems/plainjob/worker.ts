/**
 * A plainjob worker process: `worker.ts <url> <processes>`. Above one, it starts that many of itself, as
 * plainjob's documentation advises for more throughput.
 */
import { defineWorker } from "plainjob";
import { onBun } from "../javascript.ts";
import { openJob } from "../job.ts";
import { jobType, openQueue, quietLogger } from "./queue.ts";

const [url = "", processes = "1"] = process.argv.slice(2);
if (Number(processes) === 1) work();
else await lead(Number(processes));

function work(): void {
  const run = openJob();
  const worker = defineWorker(
    jobType,
    async ({ data }) => run((JSON.parse(data) as { index: number }).index),
    { queue: openQueue(url), logger: quietLogger },
  );
  process.once("SIGTERM", async () => {
    await worker.stop();
    process.exit(0);
  });
  console.log("node started");
  worker.start().catch((error) => {
    console.error(error);
    process.exit(1);
  });
}

async function lead(count: number): Promise<void> {
  // The first of them may have run everything before the last one is there: it is told then.
  let isStopping = false;
  process.once("SIGTERM", () => {
    isStopping = true;
  });
  const followers = Array.from({ length: count }, () =>
    Bun.spawn(onBun(import.meta.path, url, 1), { stdin: "ignore", stdout: "pipe" }),
  );
  const stop = () => {
    for (const follower of followers) follower.kill("SIGTERM");
  };
  await Promise.all(followers.map((follower) => follower.stdout.getReader().read()));
  process.once("SIGTERM", stop);
  if (isStopping) stop();
  console.log("node started");
  const statuses = await Promise.all(followers.map((follower) => follower.exited));
  process.exit(statuses.every((status) => status === 0) ? 0 : 1);
}
