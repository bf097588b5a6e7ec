/**
 * Times the embedded engine's cycles with few and with many jobs ready: `bun backlog-main.ts <folder> <few>
 * <many> <rounds>`. The two take turns in one process, each on a file of its own, and what a round took is
 * published again before the next.
 */
import { join } from "node:path";
import { SqliteStore } from "../../src/store/sqlite/store.ts";
import type { Executor, Settlement } from "../../src/store/store.ts";
import { aWorker, cycle, jobs, settle } from "../../test/store/conformance/harness.ts";
import type { BacklogTimes } from "./backlog.ts";

interface Side {
  readonly store: SqliteStore;
  readonly worker: Executor;
}

const [folder = "", few, many, rounds] = Bun.argv.slice(2);
const sizes = [
  { slots: 1, cycles: 500 },
  { slots: 50, cycles: 15 },
];
const short = await side("few", Number(few));
const long = await side("many", Number(many));
const results: BacklogTimes[] = [];
for (const { slots, cycles } of sizes) {
  const fewUs: number[] = [];
  const manyUs: number[] = [];
  await timed(short, slots, cycles);
  await timed(long, slots, cycles);
  for (let round = 0; round < Number(rounds); round++) {
    if (round % 2 === 0) fewUs.push(await timed(short, slots, cycles));
    manyUs.push(await timed(long, slots, cycles));
    if (round % 2 === 1) fewUs.push(await timed(short, slots, cycles));
  }
  results.push({ slots, fewUs, manyUs });
}
await short.store.close();
await long.store.close();
console.log(JSON.stringify(results));

async function side(name: string, ready: number): Promise<Side> {
  const path = join(folder, `${name}.sqlite`);
  const store = new SqliteStore({
    ...{ path, synchronous: "normal", discardedLimit: 10_000, discardedRetention: 180 },
  });
  await store.open();
  await publish(store, ready);
  return { store, worker: await aWorker(store) };
}

async function publish(store: SqliteStore, amount: number): Promise<void> {
  for (let left = amount; left > 0; left -= 1000) await store.publish(jobs(Math.min(1000, left)));
}

/** The mean of a cycle in microseconds. */
async function timed({ store, worker }: Side, slots: number, cycles: number): Promise<number> {
  let ms = 0;
  let settlements: Settlement[] = [];
  for (let i = 0; i < cycles; i++) {
    const startMs = performance.now();
    const { reserved } = await cycle(store, worker, { slots, settlements });
    ms += performance.now() - startMs;
    if (reserved.length !== slots) throw new Error(`${reserved.length} of ${slots} slots were filled`);
    settlements = reserved.map((each) => settle(each, { outcome: "ack" }));
  }
  await cycle(store, worker, { settlements });
  await publish(store, slots * cycles);
  return (ms / cycles) * 1000;
}
