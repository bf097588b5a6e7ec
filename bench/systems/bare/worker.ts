/**
 * Plain Web Workers that share a counter: `worker.ts <url> <workers> <slots>`. Each slot takes the next index
 * and runs it. Without a queue file the workers stay idle.
 */
import { existsSync, readFileSync } from "node:fs";
import { pathOf } from "../javascript.ts";
import { type Job, openJob } from "../job.ts";

interface Start {
  readonly counter: Int32Array;
  readonly jobs: number;
  readonly slots: number;
}

declare const self: Worker;

if (Bun.isMainThread) await lead();
else follow();

async function lead(): Promise<void> {
  const [url = "", workers = "1", slots = "1"] = process.argv.slice(2);
  const file = pathOf(url);
  const jobs = existsSync(file) ? Number(readFileSync(file, "utf8")) : 0;
  const counter = new Int32Array(new SharedArrayBuffer(4));
  const threads = Array.from({ length: Number(workers) }, () => new Worker(import.meta.path));
  process.once("SIGTERM", () => process.exit(0));
  await Promise.all(threads.map((thread) => new Promise((resolve) => (thread.onmessage = resolve))));
  console.log("node started");
  for (const thread of threads) thread.postMessage({ counter, jobs, slots: Number(slots) } satisfies Start);
}

function follow(): void {
  self.onmessage = ({ data }: MessageEvent<Start>) => {
    if (data.jobs === 0) return;
    const job = openJob();
    for (let slot = 0; slot < data.slots; slot++) void lane(job, data);
  };
  self.postMessage("ready");
}

async function lane(job: Job, { counter, jobs }: Start): Promise<void> {
  for (;;) {
    const index = Atomics.add(counter, 0, 1);
    if (index >= jobs) return;
    const running = job(index);
    if (running !== undefined) await running;
  }
}
