import { expect, test } from "bun:test";
import { StoreFull } from "../../src/foundation/errors.ts";
import { Site } from "../support/site.ts";

const keys = (count: number) => Array.from({ length: count }, (_, i) => [`k${i}`]);

test("Redis killed and restarted under load: nodes go on by themselves and nothing is lost", async () => {
  await using site = await Site.open({ appendOnly: "always" });
  const nodes = await Promise.all([site.node({ args: ["-c", "2"] }), site.node({ args: ["-s", "5"] })]);
  const ids = await site.publishMany(
    "Slow",
    keys(400).map(([key]) => [key, 5]),
  );
  for (let round = 1; round <= 2; round++) {
    await site.until("some jobs", () => site.notes("done").length > round * 60);
    await site.redis.kill();
    await Promise.all(nodes.map((node) => node.until("the store does not answer")));
    await site.redis.restart();
  }
  await site.drained();
  expect(new Set(site.notes("done").map(({ key }) => key)).size).toBe(400);
  const report = await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids });
  expect(report).toMatchObject({ isSound: true, lost: [] });
  expect((await site.catalog.counters()).discarded).toBe(0);
  for (const node of nodes) expect(node.count("declared dead")).toBe(0);
  expect(await Promise.all(nodes.map((node) => node.stop()))).toEqual([0, 0]);
}, 60_000);

test("scripts that the server forgot are sent again, under load", async () => {
  await using site = await Site.open();
  const node = await site.node({ args: ["-c", "2"] });
  await site.publishMany(
    "Slow",
    keys(300).map(([key]) => [key, 2]),
  );
  let flushes = 0;
  while (site.notes("done").length < 300) {
    await site.redis.send("SCRIPT", "FLUSH");
    flushes += 1;
    await Bun.sleep(5);
  }
  await site.drained();
  console.log(`forgot the scripts ${flushes} times`);
  expect(site.notes("done")).toHaveLength(300);
  expect(node.log.filter(({ level }) => level !== "info")).toEqual([]);
});

test("at maxmemory publishing is refused, and what runs is settled, retried and archived", async () => {
  await using site = await Site.open({ args: ["--maxmemory-policy", "noeviction"] });
  const node = await site.node();
  const gate = `${site.folder.path}/gate`;
  await site.catalog.pause("default");
  await site.publish("Flaky", ["retried", 1]);
  await site.publish("Flaky", ["archived", 9], { maxFailures: 0 });
  await site.publishMany("Quick", keys(50));
  await site.publish("Hold", ["held", gate], { channel: "other" });
  await site.noted("begun", "held");
  await site.redis.send("CONFIG", "SET", "maxmemory", "1mb");
  await expect(site.publish("Quick", ["refused"])).rejects.toBeInstanceOf(StoreFull);
  await site.redis.send("SREM", "solid_jobs:paused_channels", "default"); // what the catalog's resume does
  site.folder.write("gate");
  for (const key of ["held", "retried", "k49"]) await site.noted("done", key);
  await site.drained();
  expect(await site.catalog.counters()).toMatchObject({ processed: 52, failed: 2, discarded: 1 });
  await site.redis.send("CONFIG", "SET", "maxmemory", "0");
  await site.publish("Quick", ["accepted"]);
  await site.noted("done", "accepted");
  expect(await node.stop()).toBe(0);
});

test("a server that was emptied under a running node: it begins again in place", async () => {
  await using site = await Site.open();
  const node = await site.node({ args: ["-c", "2", "-t", "1"] });
  const { identity } = node;
  await site.publish("Hold", ["a", "never"]);
  await site.noted("begun");
  await site.redis.send("FLUSHALL");
  await node.until("declared dead");
  await node.until("beginning again");
  await site.publish("Quick", ["b"]);
  await site.noted("done", "b");
  const identities = [];
  for await (const { identity: found } of site.catalog.nodes()) identities.push(found);
  expect(identities).toHaveLength(1);
  expect(identities).not.toContain(identity);
  expect(node.count("was declared dead")).toBe(1);
  expect(await node.stop()).toBe(0);
});

test("a worker that lost its permission to reserve finishes its job and is replaced", async () => {
  await using site = await Site.open();
  const node = await site.node();
  await site.publish("Slow", ["a", 300]);
  await site.noted("begun");
  await site.redis.send("DEL", `solid_jobs:node:${node.identity}:generations`);
  await node.until("a worker was replaced");
  await site.publish("Quick", ["b"]);
  await site.noted("done", "b");
  await site.drained();
  expect(site.notes("done").map(({ key }) => key)).toEqual(["a", "b"]);
  expect(await site.catalog.counters()).toMatchObject({ processed: 2, failed: 0 });
  expect(node.log.filter(({ level }) => level === "error")).toEqual([]);
});
