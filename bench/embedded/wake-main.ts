/**
 * Idle workers of the embedded engine: what they cost, and how soon they begin a job that is published in
 * their process and in another one. `bun wake-main.ts <folder> <jobs> <workers> <milliseconds of idling>`.
 */
import { appendFileSync, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Conductor, close, configure, Task } from "../../src/index.ts";
import { nowMs } from "../marks/clock.ts";
import type { Waking } from "./waking.ts";

export class Stamp extends Task {
  executeTask(publishedMs: number, file: string) {
    appendFileSync(file, `${nowMs() - publishedMs}\n`);
  }
}

const settleMs = 2000;
const giveUpMs = 60_000;

if (Bun.isMainThread && import.meta.main) await main();

async function main(): Promise<void> {
  const [folder = "", ...numbers] = Bun.argv.slice(2);
  const [jobs = 0, workers = 0, idleMs = 0] = numbers.map(Number);
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
    const idlePercent = await idling(idleMs);
    const own = join(folder, "own");
    await publish(jobs, own);
    const sameProcessMs = await latencies(own, jobs);
    const others = join(folder, "others");
    await publishElsewhere(jobs, others, url);
    const otherProcessMs = await latencies(others, jobs);
    console.log(JSON.stringify({ idlePercent, sameProcessMs, otherProcessMs } satisfies Waking));
  } finally {
    await conductor.stop();
    await close();
  }
}

async function idling(idleMs: number): Promise<number> {
  await Bun.sleep(settleMs);
  const before = process.cpuUsage();
  await Bun.sleep(idleMs);
  const { user, system } = process.cpuUsage(before);
  return ((user + system) / 1000 / idleMs) * 100;
}

/** One by one, each to workers that are idle again. */
export async function publish(jobs: number, file: string): Promise<void> {
  for (let i = 0; i < jobs; i++) {
    await Stamp.enqueue(nowMs(), file);
    await Bun.sleep(20 + (i % 7) * 3);
  }
}

async function publishElsewhere(jobs: number, file: string, url: string): Promise<void> {
  const program = join(import.meta.dir, "publish-stamps.ts");
  const child = Bun.spawn([process.execPath, program, String(jobs), file], {
    env: { ...process.env, SOLID_JOBS_URL: url },
    stdout: "ignore",
    stderr: "inherit",
  });
  if ((await child.exited) !== 0) throw new Error("the publisher in another process failed");
}

/** What each job wrote. @throws Error unless all have within a minute, once each */
async function latencies(file: string, jobs: number): Promise<number[]> {
  for (const until = nowMs() + giveUpMs; ; await Bun.sleep(20)) {
    const lines = existsSync(file) ? readFileSync(file, "utf8").trim().split("\n") : [];
    if (lines.length === jobs) return lines.map(Number);
    if (lines.length < jobs && nowMs() < until) continue;
    throw new Error(`${jobs} jobs were published, ${lines.length} ran`);
  }
}
