/**
 * How soon idle workers of the embedded engine begin a job that is published in their process and in another
 * one, and what they cost while there is nothing to do.
 *
 *     bun bench/embedded-wake.ts [jobs] [workers]
 */
import { appendFileSync, existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Conductor, close, configure, Task } from "../src/index.ts";

const epochMs = () => performance.timeOrigin + performance.now();

export class Stamp extends Task {
  executeTask(publishedMs: number, file: string) {
    appendFileSync(file, `${epochMs() - publishedMs}\n`);
  }
}

if (Bun.isMainThread && import.meta.main) await main();

async function main(): Promise<void> {
  const [jobs = 200, workers = 8] = process.argv.slice(2).map(Number);
  const folder = mkdtempSync(join(tmpdir(), "solid-jobs-wake-"));
  const url = `sqlite:${join(folder, "jobs.sqlite")}`;
  configure({ url });
  const conductor = new Conductor({
    url,
    require: [import.meta.path],
    concurrency: workers,
    logLevel: "warn",
  });
  await conductor.start();
  try {
    await Bun.sleep(2000);
    const before = process.cpuUsage();
    await Bun.sleep(10_000);
    const { user, system } = process.cpuUsage(before);
    console.log(`idle: ${workers} workers use ${((user + system) / 1e5).toFixed(2)} % of a core`);
    const own = join(folder, "own");
    process.env["PUBLISH_TO"] = own;
    await publish(jobs);
    show("published in the same process", await latencies(own, jobs));
    const others = join(folder, "others");
    const env = { ...process.env, PUBLISH_TO: others, SOLID_JOBS_URL: url };
    const command = [process.execPath, join(import.meta.dir, "support", "publish-stamps.ts"), String(jobs)];
    await Bun.spawn(command, { env, stdout: "inherit", stderr: "inherit" }).exited;
    show("published in another process", await latencies(others, jobs));
  } finally {
    await conductor.stop();
    await close();
    rmSync(folder, { recursive: true });
  }
}

/** One by one, each to workers that are idle again. */
export async function publish(jobs: number): Promise<void> {
  for (let i = 0; i < jobs; i++) {
    await Stamp.enqueue(epochMs(), process.env["PUBLISH_TO"] as string);
    await Bun.sleep(20 + (i % 7) * 3);
  }
}

async function latencies(file: string, jobs: number): Promise<number[]> {
  for (;;) {
    const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    if (lines.length >= jobs) return lines.map(Number).toSorted((a, b) => a - b);
    await Bun.sleep(20);
  }
}

function show(what: string, sorted: readonly number[]): void {
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1);
  console.log(`${what}: begun after ${at(0.5)} ms p50, ${at(0.99)} ms p99, ${at(1)} ms at most`);
}
