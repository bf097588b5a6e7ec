import { describe, expect, test } from "bun:test";
import { scripts } from "../../src/store/redis/scripts.ts";
import { RedisProxy } from "../support/redis-proxy.ts";
import { Site, siteEngines } from "../support/site.ts";

const numbered = (count: number, name = "q") => Array.from({ length: count }, (_, i) => [`${name}${i}`]);

/** Each ran once, on its first attempt, and the store accounts for all. */
async function expectOnce(site: Site, ids: readonly string[], keys: number): Promise<void> {
  await site.drained();
  const notes = site.notes("done");
  expect(new Set(notes.map(({ key }) => key)).size).toBe(keys);
  expect(notes.filter(({ attempt }) => attempt !== 1)).toEqual([]);
  expect(notes).toHaveLength(keys);
  expect((await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids })).isSound).toBe(true);
}

describe.each(siteEngines)("looking ahead, on %s", (engine) => {
  test("a job that spins holds up no other: what was reserved behind it is given back and runs elsewhere", async () => {
    await using site = await Site.open({ engine });
    await site.catalog.pause("default");
    const before = await site.publishMany("Quick", numbered(600, "before"));
    const spinning = await site.publish("Spinning", ["long", `${site.folder.path}/gate`]);
    const after = await site.publishMany("Quick", numbered(600, "after"));
    const node = await site.node({ args: ["-c", "2", "--log-level", "debug"] });
    await site.catalog.resume("default");
    await site.noted("begun", "long");
    await site.until("all others to be done", () => site.notes("done").length === 1200);
    await node.until("claims reserved ahead were given back");
    expect(site.notes("done").filter(({ attempt }) => attempt !== 1)).toEqual([]);
    expect(await site.crashes(before[0] as string)).toBe(0);
    await node.kill();
    site.folder.write("gate");
    await site.node();
    await site.noted("done", "long");
    await site.drained();
    const ids = [...before, spinning, ...after];
    expect((await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids })).isSound).toBe(true);
  });

  test("a job that awaits for long holds up no other either", async () => {
    await using site = await Site.open({ engine });
    await site.catalog.pause("default");
    const gate = `${site.folder.path}/gate`;
    const ids = await site.publishMany("Quick", numbered(300, "before"));
    ids.push(await site.publish("Hold", ["long", gate]));
    ids.push(...(await site.publishMany("Quick", numbered(300, "after"))));
    await site.node({ args: ["-c", "2"] });
    await site.catalog.resume("default");
    await site.until("all others to be done", () => site.notes("done").length === 600);
    site.folder.write("gate");
    await expectOnce(site, ids, 601);
  });

  test("a thread that dies takes no other job with it: those reserved ahead are neither failed nor counted", async () => {
    await using site = await Site.open({ engine });
    await site.catalog.pause("default");
    const gate = `${site.folder.path}/gate`;
    const quick = await site.publishMany("Quick", numbered(400, "before"));
    const exiting = await site.publish("Exiting", ["exits", gate]);
    quick.push(...(await site.publishMany("Quick", numbered(400, "after"))));
    const node = await site.node();
    await site.catalog.resume("default");
    await node.until("a worker's thread died");
    site.folder.write("gate");
    expect((await site.noted("done", "exits")).attempt).toBe(2);
    await site.until(
      "all others to be done",
      () => new Set(site.notes("done").map(({ key }) => key)).size === 801,
    );
    await site.drained();
    expect(await site.catalog.counters()).toMatchObject({ processed: 801, failed: 1 });
    expect(site.notes("done").filter(({ key, attempt }) => key !== "exits" && attempt !== 1)).toEqual([]);
    const crashes = await Promise.all(quick.map((id) => site.crashes(id)));
    expect(crashes.filter((count) => count > 0)).toEqual([]);
    const ids = [...quick, exiting];
    expect((await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids })).isSound).toBe(true);
  });

  test("a node that is killed loses nothing that it had reserved ahead", async () => {
    await using site = await Site.open({ engine });
    const ids = await site.publishMany("Quick", numbered(3000));
    const node = await site.node({ args: ["-c", "2"] });
    await site.until("some to be done", () => site.notes("done").length > 300);
    await node.kill();
    await site.node();
    await site.until("all to be done", () => new Set(site.notes("done").map(({ key }) => key)).size === 3000);
    await site.drained();
    expect((await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids })).isSound).toBe(true);
  });

  test("a node that stops gives back what waits, and runs nothing twice", async () => {
    await using site = await Site.open({ engine });
    const ids = await site.publishMany("Quick", numbered(4000));
    const node = await site.node({ args: ["-c", "2"] });
    await site.until("some to be done", () => site.notes("done").length > 300);
    expect(await node.stop()).toBe(0);
    await site.node();
    await site.until("all to be done", () => site.notes("done").length >= 4000);
    await expectOnce(site, ids, 4000);
  });

  test("with look_ahead 0 a worker holds one claim a slot", async () => {
    await using site = await Site.open({ engine });
    const gate = `${site.folder.path}/gate`;
    await site.catalog.pause("default");
    const ids = await site.publishMany("Quick", numbered(200));
    ids.push(await site.publish("Hold", ["long", gate]));
    ids.push(...(await site.publishMany("Quick", numbered(200, "after"))));
    await site.node({ env: { SOLID_JOBS_LOOK_AHEAD: "0" } });
    await site.catalog.resume("default");
    await site.noted("begun", "long");
    expect((await site.catalog.counters()).ready).toBe(200);
    site.folder.write("gate");
    await expectOnce(site, ids, 401);
  });
});

test("beside a long job, a worker that is far from its store still gets what it asks for", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port, { delayMs: 30 });
  const gate = `${site.folder.path}/gate`;
  await site.node({ url: proxy.url, args: ["-s", "10"] });
  const ids = await site.publishMany("Quick", numbered(40, "before"));
  ids.push(await site.publish("Hold", ["long", gate]), await site.publish("Slow", ["pause", 700]));
  await site.noted("begun", "long");
  await site.noted("done", "pause"); // by now nothing has begun for long
  ids.push(...(await site.publishMany("Quick", numbered(200, "after"))));
  await site.until("all others to be done", () => site.notes("done").length === 241);
  site.folder.write("gate");
  await expectOnce(site, ids, 242);
}, 30_000);

test("a call that settles and reserves ahead and whose reply is lost: each job still runs, none twice", async () => {
  await using site = await Site.open();
  await using proxy = await RedisProxy.start(site.redis.port);
  const ids = await site.publishMany("Quick", numbered(2000));
  let calls = 0;
  const lost = [40, 60, 80].map((which) =>
    proxy.loseReply(([, text]) => text === scripts.cycle.modern.sha && ++calls >= which),
  );
  await site.node({ url: proxy.url });
  await Promise.all(lost);
  await expectOnce(site, ids, 2000);
});

test("short jobs are settled and reserved many at a time", async () => {
  await using site = await Site.open();
  await site.publishMany("Quick", numbered(3000));
  await site.node();
  await site.until("all to be done", () => site.notes("done").length === 3000);
  await site.drained();
  const stats = String(await site.redis.send("INFO", "commandstats"));
  expect(Number(/cmdstat_evalsha:calls=(\d+)/.exec(stats)?.[1])).toBeLessThan(1500);
});
