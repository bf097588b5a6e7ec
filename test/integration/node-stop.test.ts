import { describe, expect, test } from "bun:test";
import { Site, type SiteEngine, siteEngines } from "../support/site.ts";
import { testUnless } from "../support/skip.ts";

describe.each(siteEngines)("on %s", (engine) => {
  test("a stopped node has finished what ran within its timeout, and left nothing in the store", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node();
    await site.publish("Slow", ["a", 300]);
    await site.noted("begun", "a");
    expect(await node.stop()).toBe(0);
    expect(site.notes("done")).toHaveLength(1);
    expect(await site.tracesOfNodes()).toEqual([]);
  });

  test("a job longer than the timeout goes back to the head of its channel, uncounted, and runs again", async () => {
    await using site = await Site.open({ engine });
    const gate = `${site.folder.path}/gate`;
    const node = await site.node({ args: ["-t", "0.2"] });
    const id = await site.publish("Hold", ["long", gate]);
    await site.noted("begun", "long");
    await site.publish("Quick", ["behind"]);
    expect(await node.stop()).toBe(0);
    const stored = await Array.fromAsync(site.catalog.jobs("default"));
    const records = stored.map(({ text }) => JSON.parse(text) as Record<string, unknown>);
    expect(records.map(({ task }) => task)).toEqual(["Quick", "Hold"]); // the newest first
    expect(records[1]).not.toHaveProperty("failure_count");
    expect(await site.crashes(id)).toBe(0);
    site.folder.write("gate");
    await site.node();
    await site.noted("done", "behind");
    expect(site.notes("done").map(({ key }) => key)).toEqual(["long", "behind"]);
    expect(site.notes("begun").map(({ attempt }) => attempt)).toEqual([1, 1]);
    await site.drained();
  });

  test("a second SIGTERM waits for no job any longer", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node({ args: ["-t", "3000"] });
    await site.publish("Hold", ["a", "never"]);
    await site.noted("begun");
    node.signal("SIGTERM");
    await site.until("the node to reserve nothing more", async () => {
      return site.isClosedForReservations(node);
    });
    node.signal("SIGTERM");
    expect(await node.exited).toBe(0);
    expect((await site.catalog.counters()).ready).toBe(1);
  });

  testUnless(noServer(engine))(
    "a stop while the store is frozen gives up and exits with 1; the jobs are recovered",
    async () => {
      await using site = await Site.open({ engine });
      const node = await site.node({ args: ["-t", "0.5"] });
      await site.publish("Hold", ["a", `${site.folder.path}/gate`]);
      await site.noted("begun");
      site.redis.freeze();
      const begunAt = performance.now();
      expect(await node.stop()).toBe(1);
      console.log(
        `stopped without the store in ${Math.round(performance.now() - begunAt)} ms of at most 5500`,
      );
      site.redis.resume();
      site.folder.write("gate");
      await site.node();
      await site.noted("done", "a");
      await site.drained();
    },
  );

  testUnless(noServer(engine))("a store that comes back during the stop is left properly", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node({ args: ["-t", "4"] });
    await site.publish("Hold", ["a", "never"]);
    await site.noted("begun");
    site.redis.freeze();
    node.signal("SIGTERM");
    await node.until("stopping without the store");
    site.redis.resume();
    expect(await node.exited).toBe(0);
    expect((await site.catalog.counters()).ready).toBe(1);
  });

  test("a job may publish while its node drains", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node();
    await site.publish("Publishing", ["a", `${site.folder.path}/gate`]);
    await site.noted("begun");
    node.signal("SIGTERM");
    await site.until("the node to reserve nothing more", async () => {
      return site.isClosedForReservations(node);
    });
    site.folder.write("gate");
    expect(await node.exited).toBe(0);
    expect(site.notes("done").map(({ key }) => key)).toEqual(["a"]);
    expect((await site.catalog.counters()).ready).toBe(1);
    await site.node();
    await site.noted("done", "child of a");
  });

  test("a job that heeds its signal goes back uncounted when it fails by it, and is done when it succeeds", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node({ args: ["-t", "0.1", "-c", "2"] });
    await site.publish("Heeding", ["failing"]);
    await site.publish("Saving", ["saving"]);
    await site.noted("begun", "failing");
    await site.noted("begun", "saving");
    expect(await node.stop()).toBe(0);
    expect(site.notes("done").map(({ key }) => key)).toEqual(["saving"]);
    const counters = await site.catalog.counters();
    expect(counters).toMatchObject({ ready: 1, retrying: 0, processed: 1, failed: 0 });
  });

  test("a spinning job does not hold up a stop", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node({ args: ["-t", "0.2"] });
    await site.publish("Spinning", ["a"]);
    await site.noted("begun");
    expect(await node.stop()).toBe(0);
    expect((await site.catalog.counters()).ready).toBe(1);
  });

  test("a stop names the workers that a native call holds, and does not wait for it", async () => {
    await using site = await Site.open({ engine });
    const node = await site.node({ args: ["-t", "0.2"] });
    await site.publish("Native", ["a", 60_000]);
    await site.noted("begun");
    expect(await node.stop()).toBe(0);
    expect(await node.until("native calls still hold workers")).toMatchObject({ workers: [0] });
    expect((await site.catalog.counters()).ready).toBe(1);
  });

  test("a stop during a start ends it, with 0", async () => {
    await using site = await Site.open({ engine });
    const waiting = site.module(
      "waiting.ts",
      `import { writeFileSync } from "node:fs";
     writeFileSync("loading", "");
     await new Promise(() => {});
     export {};`,
    );
    const node = site.spawn({ modules: [waiting] });
    await site.until("the module to load", () => Bun.file(`${site.folder.path}/loading`).exists());
    expect(await node.stop()).toBe(0);
    expect(await site.tracesOfNodes()).toEqual([]);
  });

  test("a stop while a worker's startup hangs ends it, with 0", async () => {
    await using site = await Site.open({ engine });
    const hanging = site.module(
      "hanging.ts",
      `import { writeFileSync } from "node:fs";
     import { configure, Task } from "solid-jobs";
     configure({ startup: () => { writeFileSync("starting", ""); return new Promise(() => {}); } });
     export class Never extends Task { executeTask() {} }`,
    );
    const node = site.spawn({ modules: [hanging] });
    await site.until("the startup callback", () => Bun.file(`${site.folder.path}/starting`).exists());
    expect(await node.stop()).toBe(0);
    expect(await site.tracesOfNodes()).toEqual([]);
  });
});

function noServer(engine: SiteEngine): string | undefined {
  return engine === "redis" ? undefined : "a file has no server that could be silent";
}
