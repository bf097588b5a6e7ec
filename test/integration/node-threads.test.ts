import { describe, expect, test } from "bun:test";
import { Site, siteEngines } from "../support/site.ts";

describe.each(siteEngines)("on %s", (engine) => {
  test.each([
    ["before an await", false],
    ["after an await", true],
  ])(
    "a job that ends its thread %s is a failure with a crash counted; the thread is replaced",
    async (_, isLate) => {
      await using site = await Site.open({ engine });
      const gate = `${site.folder.path}/gate`;
      const node = await site.node();
      const id = await site.publish("Exiting", ["a", gate, isLate]);
      const died = await node.until("a worker's thread died");
      expect(died.message).toContain("its thread ended with code 3");
      site.folder.write("gate");
      await site.noted("done", "a");
      await node.until("a worker was replaced");
      await site.drained();
      const attempts = site.notes("begun").map(({ attempt }) => attempt);
      expect(attempts).toEqual(attempts.map((_, index) => index + 1));
      expect(attempts.length).toBeGreaterThanOrEqual(2);
      expect(await site.crashes(id)).toBe(attempts.length - 1);
      expect(await node.stop()).toBe(0);
    },
  );

  test.concurrent("a job that spins past its timeout loses its thread, fails and is tried again", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node();
    const id = await site.publish("SpinningWithTimeout", ["a", `${site.folder.path}/gate`]);
    await site.noted("begun");
    site.folder.write("gate");
    await site.noted("done", "a");
    await site.drained();
    expect(site.notes("begun").map(({ attempt }) => attempt)).toEqual([1, 2]);
    expect(node.count("jobs ran past their timeouts")).toBe(1);
    expect(await site.crashes(id)).toBe(0); // the conductor's own doing
  });

  test.concurrent("a native call past its timeout is told once, and its thread replaced as soon as it returns", async () => {
    await using site = await Site.open({ engine });
    const slow = site.module(
      "slow.ts",
      `import { Task } from "solid-jobs";
     import { appendFileSync } from "node:fs";
     export class Sleeper extends Task {
       static options = { timeout: 0.1, maxFailures: 0 };
       executeTask() { Bun.sleepSync(8000); appendFileSync("survived", "x"); }
     }
     export class After extends Task { executeTask() { appendFileSync("after", "x"); } }`,
    );
    const node = await site.node({ modules: [slow] });
    await site.publish("Sleeper", [], { maxFailures: 0 });
    await node.until("a worker is held by a native call");
    await site.publish("After");
    await site.until("the next job", () => Bun.file(`${site.folder.path}/after`).exists());
    expect(node.count("jobs ran past their timeouts")).toBe(1);
    expect(node.count("a worker is held by a native call")).toBe(1);
    expect(await Bun.file(`${site.folder.path}/survived`).exists()).toBe(false);
    expect((await site.catalog.counters()).discarded).toBe(1);
  });

  test("stray rejections and uncaught errors are told, and neither the job nor its worker dies of them", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node();
    const id = await site.publish("Straying", ["a"]);
    const first = await site.noted("done", "a");
    const rejection = await node.until("a rejection outside of a job's own promise");
    const error = await node.until("an error outside of a job's own promise");
    expect(rejection).toMatchObject({ jobs: [id], error: { message: "a stray rejection" } });
    expect(error).toMatchObject({ jobs: [id], error: { message: "an uncaught error" } });
    await site.publish("Quick", ["b"]);
    expect((await site.noted("done", "b")).thread).toBe(first.thread);
    expect(await site.catalog.counters()).toMatchObject({ processed: 2, failed: 0 });
    expect(await node.stop()).toBe(0);
  });

  test.each([
    ["a known culprit", false],
    ["an unknown one", true],
  ])("the neighbours of %s are never archived, and run to their end", async (_, isLate) => {
    await using site = await Site.open({ engine });
    const gate = `${site.folder.path}/gate`;
    const node = await site.node({ args: ["-s", "4"] });
    const innocents = ["a", "b", "c"];
    await site.publishMany(
      "Hold",
      innocents.map((key) => [key, gate]),
      { maxFailures: 0 },
    );
    for (const key of innocents) await site.noted("begun", key);
    await site.publish("Exiting", ["culprit", gate, isLate], { maxFailures: 10 });
    await node.until("a worker was replaced");
    site.folder.write("gate");
    for (const key of [...innocents, "culprit"]) await site.noted("done", key);
    await site.drained();
    expect(await site.catalog.counters()).toMatchObject({ discarded: 0, processed: 4 });
  });

  test("a thread that dies again and again is replaced after growing pauses", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node({ env: { SOLID_JOBS_MAX_CRASHES: "100" } });
    await site.publish("Exiting", ["a", `${site.folder.path}/gate`], { maxFailures: 100 });
    await site.noted("begun", "a", 3);
    const deaths = node.log.filter(({ message }) => message.startsWith("a worker's thread died")).slice(0, 3);
    const replaced = node.log
      .filter(({ message }) => message.startsWith("a worker was replaced"))
      .slice(0, 3);
    const pauses = replaced.map(
      ({ time }, i) => Date.parse(String(time)) - Date.parse(String(deaths[i]?.["time"])),
    );
    console.log(`pauses before a replacement: ${pauses.join(", ")} ms`);
    expect(pauses[1]).toBeGreaterThanOrEqual(1000);
    expect(pauses[2]).toBeGreaterThanOrEqual(2000);
    expect(await node.stop()).toBe(0); // also in such a pause
  });

  test("a module that no longer loads stops the node at the next replacement, with its reason and 1", async () => {
    await using site = await Site.open({ engine });
    const source = (rest: string) => `import { Task } from "solid-jobs";
    export class Ending extends Task { executeTask() { process.exit(1); } }
    ${rest}`;
    const path = site.module("deployed.ts", source(""));
    const node = await site.node({ modules: [path], args: ["-c", "2"] });
    site.module("deployed.ts", source("throw new Error('a bad deploy');"));
    await site.publish("Ending");
    expect(await node.exited).toBe(1);
    expect((await node.until("the node cannot go on")).message).toContain("a bad deploy");
    expect(await site.tracesOfNodes()).toEqual([]);
    const { ready, retrying } = await site.catalog.counters();
    expect(ready + retrying).toBe(1); // its retry may have come due meanwhile
  });

  test("a job that posts messages of its own does not confuse its node", async () => {
    await using site = await Site.open({ engine });
    const posting = site.module(
      "posting.ts",
      `import { Task } from "solid-jobs";
     import { appendFileSync } from "node:fs";
     declare const self: Worker;
     export class Posting extends Task {
       executeTask() {
         for (const message of ["hello", null, 7, {}, { type: "nonsense" }]) self.postMessage(message);
         appendFileSync("posted", "x");
       }
     }`,
    );
    const node = await site.node({ modules: [posting] });
    await site.publishMany("Posting", [[], [], []]);
    await site.drained();
    expect(await Bun.file(`${site.folder.path}/posted`).text()).toBe("xxx");
    expect(await node.stop()).toBe(0);
    expect(node.log.filter(({ level }) => level !== "info")).toEqual([]);
  });
});
