import { describe, expect, test } from "bun:test";
import { Site, siteEngines } from "../support/site.ts";

describe.each(siteEngines)("on %s", (engine) => {
  test("10,000 jobs over two processes, with random failures and a kill: every one ends once, none is lost", async () => {
    await using site = await Site.open({ engine });
    const random = site.module(
      "random.ts",
      `import { appendFileSync } from "node:fs";
     import { Task } from "solid-jobs";
     export class Random extends Task {
       static retryDelay = () => 0.05;
       async executeTask(key: number) {
         if (key % 3 === 0) await Bun.sleep(1);
         if (Math.random() < 0.05) throw new Error("a random failure");
         if (key % 100 === 99) throw new Error("a failure at every attempt");
         appendFileSync(process.env.LEDGER!, this.taskId + "\\n");
       }
     }`,
    );
    const setup = { modules: [random], args: ["-c", "2", "-s", "10", "--log-level", "silent"] };
    const spawned = [site.spawn(setup), site.spawn(setup)];
    const ids = await site.publishMany(
      "Random",
      Array.from({ length: 10_000 }, (_, key) => [key]),
      { maxFailures: 20 },
    );
    const isNever = new Set(ids.filter((_, key) => key % 100 === 99));
    await site.until("two thousand jobs", async () => (await site.catalog.counters()).processed > 2000);
    await spawned[0]?.kill();
    site.spawn(setup);
    await site.drained();
    const { processed, discarded } = await site.catalog.counters();
    const ended = (await Bun.file(site.ledger).text()).trim().split("\n");
    const acked = ids.filter((id) => !isNever.has(id));
    const report = await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: acked });
    console.log(`10,000 jobs: ${ended.length - acked.length} ran to their end twice, for the kill`);
    expect({ processed, discarded }).toEqual({ processed: 9900, discarded: 100 });
    expect(new Set(ended)).toEqual(new Set(acked));
    expect(report.isSound).toBe(true);
    expect(report.counts).toMatchObject({ acked: 9900, discarded: 100, lost: 0 });
    expect(await spawned[1]?.stop()).toBe(0);
  });
});
