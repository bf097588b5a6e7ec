import { expect, test } from "bun:test";
import { Site } from "../support/site.ts";

const keys = (count: number) => Array.from({ length: count }, (_, i) => `k${i}`);

test.each(["Burning", "BurningLate"])(
  "a burst of CPU-bound jobs (%s) is spread over all workers",
  async (task) => {
    await using site = await Site.open();
    await site.node({ args: ["-c", "3", "-s", "10"] });
    await site.publishMany(
      task,
      keys(60).map((key) => [key, 20]),
    );
    await site.drained();
    const counts = new Map<number, number>();
    for (const { thread } of site.notes("done")) counts.set(thread, (counts.get(thread) ?? 0) + 1);
    console.log(`${task}: jobs of each worker ${[...counts.values()].join(", ")}`);
    expect(counts.size).toBe(3);
    expect(Math.min(...counts.values())).toBeGreaterThan(5);
  },
);

test("slots run async jobs side by side in one worker", async () => {
  await using site = await Site.open();
  await site.node({ args: ["-s", "10"] });
  const gate = `${site.folder.path}/gate`;
  await site.publishMany(
    "Hold",
    keys(10).map((key) => [key, gate]),
  );
  await site.until("all to run", () => site.notes("begun").length === 10);
  site.folder.write("gate");
  await site.drained();
  expect(site.notes("done")).toHaveLength(10);
});

test("one-slot workers that sit in awaits while jobs wait bring one hint", async () => {
  await using site = await Site.open();
  const node = await site.node({ args: ["-c", "2"] });
  await site.publishMany(
    "Slow",
    keys(240).map((key) => [key, 50]),
  );
  await site.drained();
  expect(node.count("--slots")).toBe(1);
});

test("a paused channel is skipped while others are served, and goes on when it is resumed", async () => {
  await using site = await Site.open();
  await site.catalog.pause("other");
  await site.node();
  await site.publishMany("Quick", [["x"], ["y"]], { channel: "other" });
  await site.publishMany("Quick", [["a"], ["b"]]);
  await site.noted("done", "b");
  await site.catalog.pause("default");
  await site.publish("Quick", ["c"]);
  await site.catalog.resume("other");
  await site.noted("done", "y");
  expect(site.notes("done").map(({ key }) => key)).toEqual(["a", "b", "x", "y"]);
  await site.catalog.resume("default");
  await site.noted("done", "c");
});

test.each([
  ["job by job", "0", 0],
  ["in batches that are reserved ahead", "16", 12],
])("weights: three of one channel for each of the other, %s", async (_, lookAhead, mostOff) => {
  await using site = await Site.open();
  await site.publishMany(
    "Quick",
    keys(80).map(() => ["heavy"]),
    { channel: "heavy" },
  );
  await site.publishMany(
    "Quick",
    keys(80).map(() => ["light"]),
    { channel: "light" },
  );
  await site.node({
    args: ["--channel", "heavy,3", "--channel", "light"],
    env: { SOLID_JOBS_LOOK_AHEAD: lookAhead },
  });
  await site.drained();
  const first = site
    .notes("done")
    .slice(0, 80)
    .filter(({ key }) => key === "heavy");
  expect(Math.abs(first.length - 60)).toBeLessThanOrEqual(mostOff);
  expect(site.notes("done")).toHaveLength(160);
});

test("priority: the second channel waits until the first is empty", async () => {
  await using site = await Site.open();
  await site.publishMany(
    "Quick",
    keys(20).map(() => ["low"]),
    { channel: "low" },
  );
  await site.publishMany(
    "Quick",
    keys(20).map(() => ["high"]),
    { channel: "high" },
  );
  const env = { SOLID_JOBS_CHANNEL_ORDER: "priority" };
  await site.node({ env, args: ["--channel", "high", "--channel", "low"] });
  await site.drained();
  expect(site.notes("done").map(({ key }) => key)).toEqual([
    ...keys(20).map(() => "high"),
    ...keys(20).map(() => "low"),
  ]);
});

test("due jobs run after their time, soon", async () => {
  await using site = await Site.open();
  await site.node({ args: ["-c", "2"] });
  const firstAt = Date.now() / 1000 + 0.5;
  const due = keys(100).map((key, i) => ({ key, at: firstAt + i * 0.015 }));
  for (const { key, at } of due) await site.publish("Quick", [key], { due: { atSeconds: at } });
  await site.drained();
  const lateness = site
    .notes("done")
    .map(({ key, at }) => at - due.find((each) => each.key === key)!.at * 1000);
  lateness.sort((a, b) => a - b);
  console.log(`due jobs: late by ${lateness[50]?.toFixed()} ms at p50, ${lateness[98]?.toFixed()} ms at p99`);
  expect(lateness).toHaveLength(100);
  expect(lateness[0]!).toBeGreaterThan(-1);
});

test("SIGTSTP makes a node quiet for good, SIGTTIN prints what it does", async () => {
  await using site = await Site.open();
  const node = await site.node({ args: ["-c", "2"] });
  const id = await site.publish("Hold", ["a", `${site.folder.path}/gate`]);
  await site.noted("begun");
  node.signal("SIGTTIN");
  const busy = await node.until((line) => line.message === "worker" && line["job"] !== undefined);
  expect(busy).toMatchObject({ job: id, slot: 0, state: "awaiting" });
  expect(await node.until((line) => line["state"] === "idle")).toMatchObject({ message: "worker" });
  node.signal("SIGTSTP");
  await node.until("quiet: nothing more is reserved");
  await site.publish("Quick", ["b"]);
  site.folder.write("gate");
  await site.noted("done", "a");
  await site.until("quiet in the store", async () => {
    return (await site.redis.send("HGET", `solid_jobs:node:${node.identity}`, "quiet")) === "true";
  });
  expect((await site.catalog.counters()).ready).toBe(1);
  expect(await node.stop()).toBe(0);
  expect(site.notes("done")).toHaveLength(1);
});

test("the catalog's requests steer a node: report, quiet, stop", async () => {
  await using site = await Site.open();
  const node = await site.node();
  expect(await site.catalog.signal(node.identity, "TTIN")).toBe(true);
  await node.until((line) => line.message === "node" && line["busy"] === 0);
  await site.catalog.signal(node.identity, "TSTP");
  await node.until("quiet: nothing more is reserved");
  await site.catalog.signal(node.identity, "TERM");
  expect(await node.exited).toBe(0);
  expect(await site.catalog.signal(node.identity, "TERM")).toBe(false);
});

test("--watch: a change brings the new code, a broken one changes nothing, the next one mends it", async () => {
  await using site = await Site.open();
  const version = (text: string) => `import { Task } from "solid-jobs";
    import { appendFileSync } from "node:fs";
    export class Versioned extends Task { executeTask() { appendFileSync("versions", "${text};"); } }`;
  const path = site.module("versioned.ts", version("one"));
  const node = await site.node({ modules: [path], args: ["--watch", "-t", "1"] });
  const runs = async (text: string) => {
    await site.publish("Versioned");
    await site.until(`a run of version ${text}`, async () => {
      const file = Bun.file(`${site.folder.path}/versions`);
      return (await file.exists()) && (await file.text()).endsWith(`${text};`);
    });
  };
  await runs("one");
  site.module("versioned.ts", version("two"));
  await node.until((line) => line.message === "restarted");
  await runs("two");
  site.module("versioned.ts", "export class {");
  await node.until("the restart failed");
  await runs("two");
  const from = node.log.length;
  site.module("versioned.ts", version("three"));
  await node.until((line) => line.message === "restarted", from);
  await runs("three");
  expect(await node.stop()).toBe(0);
});
