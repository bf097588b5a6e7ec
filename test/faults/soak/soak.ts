import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Catalog } from "../../../src/catalog/catalog.ts";
import { settingsFrom } from "../../../src/config/resolve.ts";
import { storeFor } from "../../../src/store/open.ts";
import { NodeProcess } from "../../support/node-process.ts";
import { RedisServer } from "../../support/redis-server.ts";
import type { SiteEngine } from "../../support/site.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { Feeder, idOf, patiently } from "./feeder.ts";
import { type Sample, type SoakSummary, summaryOf, treeRssMiB } from "./samples.ts";

export interface SoakOptions {
  readonly engine: SiteEngine;
  readonly minutes: number;
  readonly onSample: (sample: Sample) => void;
}

export interface SoakResult extends SoakSummary {
  readonly published: number;
  readonly executions: number;
  /** Done more than once, without any fault: 0, or the soak has failed. */
  readonly twice: number;
  readonly archived: number;
  readonly lost: number;
  readonly problems: readonly string[];
}

const sampleMs = 10_000;
const feedMs = 20;
const queueLength = 1000;
/** Memory is judged after this part of the time at most, and after five minutes. */
const warmUpSeconds = 300;
const drainMs = 60_000;

/** A node of four workers at work on mixed jobs for a long time, its queue held near 1,000; ends with an account of every job. */
export async function soak({ engine, minutes, onSample }: SoakOptions): Promise<SoakResult> {
  using folder = temporaryFolder();
  const server = engine === "redis" ? await RedisServer.start({ appendOnly: "everysec" }) : undefined;
  const url = server?.url ?? `sqlite:${join(folder.path, "store", "jobs.sqlite")}`;
  const settings = settingsFrom({ env: {}, given: { url, discardedLimit: 1_000_000 } });
  const store = storeFor(settings);
  const catalog = new Catalog(settings);
  const ledger = folder.write("ledger");
  const node = new NodeProcess({
    args: ["-r", join(import.meta.dir, "tasks.ts"), "--url", url, "-c", "4", "--log-level", "error"],
    cwd: folder.path,
    env: { SOAK_LEDGER: ledger, NODE_ENV: "development", SOLID_JOBS_DISCARDED_LIMIT: "1000000" },
  });
  try {
    const feeder = new Feeder(store);
    const samples = await work({ minutes, feeder, catalog, node, server, onSample });
    await drained(catalog);
    const status = await node.stop();
    const account = await accountOf(catalog, feeder, ledger);
    const problems = [
      ...account.problems,
      ...(status === 0 ? [] : [`the node stopped with ${status}\n${node.dump()}`]),
    ];
    return { ...summaryOf(samples, Math.min(warmUpSeconds, (minutes * 60) / 3)), ...account, problems };
  } finally {
    if (!node.hasExited) await node.kill();
    await catalog.close();
    await store.close();
    await server?.stop();
  }
}

interface Work {
  readonly minutes: number;
  readonly feeder: Feeder;
  readonly catalog: Catalog;
  readonly node: NodeProcess;
  readonly server: RedisServer | undefined;
  readonly onSample: (sample: Sample) => void;
}

/** Feeds what was done since it looked last, and takes samples. */
async function work({ minutes, feeder, catalog, node, server, onSample }: Work): Promise<Sample[]> {
  const samples: Sample[] = [];
  const startedAt = performance.now();
  const endsAt = startedAt + minutes * 60_000;
  let sampledAt = startedAt;
  let doneBefore = 0;
  while (performance.now() < endsAt) {
    const { ready, planned, retrying, processed } = await patiently(() => catalog.counters());
    const missing = queueLength - ready - planned - retrying;
    if (missing > 0) await feeder.feed(missing);
    const now = performance.now();
    if (now - sampledAt >= sampleMs) {
      const sample = {
        seconds: Math.round((now - startedAt) / 1000),
        jobsPerSecond: Math.round((processed - doneBefore) / ((now - sampledAt) / 1000)),
        rssMiB: treeRssMiB(node.pid),
        redisMiB: server === undefined ? undefined : await usedMiB(server),
        queued: ready,
      };
      [sampledAt, doneBefore] = [now, processed];
      samples.push(sample);
      onSample(sample);
    }
    if (node.hasExited) throw new Error(`the node ended\n${node.dump()}`);
    await Bun.sleep(feedMs);
  }
  return samples;
}

async function usedMiB(server: RedisServer): Promise<number> {
  return Number(/used_memory:(\d+)/.exec(String(await server.send("INFO", "memory")))?.[1]) / 1024 / 1024;
}

/** @throws Error when something is left after a minute */
async function drained(catalog: Catalog): Promise<void> {
  const endsAt = performance.now() + drainMs;
  for (;;) {
    const { ready, planned, retrying } = await patiently(() => catalog.counters());
    const claims = await Array.fromAsync(catalog.claims());
    if (ready + planned + retrying + claims.length === 0) return;
    if (performance.now() > endsAt) throw new Error(`after ${drainMs / 1000} s jobs are left to do`);
    await Bun.sleep(100);
  }
}

/** Every number is done once in the jobs' ledger, or archived. */
async function accountOf(catalog: Catalog, feeder: Feeder, ledger: string) {
  const times = new Uint8Array(feeder.published + 1);
  let executions = 0;
  for (const line of readFileSync(ledger, "latin1").split("\n")) {
    if (line === "") continue;
    executions += 1;
    times[Number(line)] = (times[Number(line)] ?? 0) + 1;
  }
  const numbers = Array.from({ length: feeder.published }, (_, i) => i + 1);
  const ackedIds = numbers.filter((number) => times[number] !== 0).map(idOf);
  const report = await catalog.integrityCheck({ expectedIds: numbers.map(idOf), ackedIds });
  const twice = numbers.filter((number) => (times[number] ?? 0) > 1).length;
  const archived = report.counts.discarded;
  const problems: string[] = [];
  if (report.lost.length > 0) problems.push(`LOST: ${report.lost.slice(0, 10).join(", ")}`);
  if (!report.isSound) problems.push("the integrity check finds the store unsound");
  if (twice > 0) problems.push(`${twice} jobs were done twice`);
  if (archived !== feeder.doomed) problems.push(`expected ${feeder.doomed} archived jobs, found ${archived}`);
  return { published: feeder.published, executions, twice, archived, lost: report.lost.length, problems };
}
