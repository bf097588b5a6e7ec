import { describe, expect, test } from "bun:test";
import type { NodeProcess } from "../support/node-process.ts";
import { type NodeSetup, Site, siteEngines } from "../support/site.ts";

const numbered = (count: number, name = "q") => Array.from({ length: count }, (_, i) => [`${name}${i}`, 3]);

/** Starts a node, and another one each time it dies, as a process supervisor does. */
class Supervisor implements AsyncDisposable {
  deaths = 0;
  private readonly site: Site;
  private readonly setup: NodeSetup;
  private isStopping = false;
  private node: NodeProcess | undefined;
  private readonly ended: Promise<void>;

  constructor(site: Site, setup: NodeSetup) {
    this.site = site;
    this.setup = setup;
    this.ended = this.run();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.isStopping = true;
    if (this.node?.hasExited === false) await this.node.stop();
    await this.ended;
  }

  private async run(): Promise<void> {
    while (!this.isStopping) {
      this.node = this.site.spawn(this.setup);
      await this.node.exited;
      if (!this.isStopping) this.deaths += 1;
    }
  }
}

async function archive(site: Site) {
  const found: { id: string | undefined; exceptionType: string | undefined; failureCount: number }[] = [];
  for await (const { id, envelope } of site.catalog.discarded.entries()) {
    found.push({ id, exceptionType: envelope?.exceptionType, failureCount: envelope?.failureCount ?? 0 });
  }
  return found;
}

/** Kills the node while the job runs, as often. */
async function killWhile(site: Site, key: string, times: number, setup: NodeSetup = {}): Promise<void> {
  for (let death = 0; death < times; death++) {
    const node = await site.node(setup);
    await site.until("the job to begin", () => site.notes("begun").filter((note) => note.key === key)[death]);
    await node.kill();
  }
}

describe.each(siteEngines)("poison, on %s", (engine) => {
  test.each([
    ["at once", false],
    ["after an await", true],
  ])(
    "a job that ends its process %s is archived after three deaths, and no other job is",
    async (_, isLate) => {
      await using site = await Site.open({ engine });
      const innocents = await site.publishMany("Slow", numbered(150, "before"));
      const poison = await site.publish("Aborting", ["poison", "", isLate]);
      innocents.push(...(await site.publishMany("Slow", numbered(150, "after"))));
      await using supervisor = new Supervisor(site, { args: ["-c", "2", "-s", "3"] });
      await site.until("the poison to be archived", () => site.notes("final")[0]);
      await site.drained();
      expect(supervisor.deaths).toBe(3);
      expect(await archive(site)).toEqual([{ id: poison, exceptionType: "PoisonJob", failureCount: 1 }]);
      expect(site.notes("final")).toMatchObject([{ key: "poison", name: "PoisonJob" }]);
      expect(site.notes("begun").filter(({ key }) => key === "poison")).toHaveLength(3);
      expect(new Set(site.notes("done").map(({ key }) => key)).size).toBe(300);
      const report = await site.catalog.integrityCheck({
        expectedIds: [...innocents, poison],
        ackedIds: innocents,
      });
      expect(report.isSound).toBe(true);
      expect(await site.crashes(poison)).toBe(0);
    },
  );

  test("requeued from the archive, it starts afresh", async () => {
    await using site = await Site.open({ engine });
    const gate = `${site.folder.path}/gate`;
    const id = await site.publish("Aborting", ["mended", gate]);
    await using supervisor = new Supervisor(site, {});
    await site.until("it to be archived", () => site.notes("final")[0]);
    await site.drained();
    await site.catalog.discarded.requeueAll();
    await site.until("it to begin once more", () => site.notes("begun").length === 4);
    expect(await site.crashes(id)).toBeLessThan(2);
    site.folder.write("gate");
    await site.noted("done", "mended");
    await site.drained();
    expect(supervisor.deaths).toBe(4);
    expect(await archive(site)).toEqual([]);
  });

  test("a job whose thread dies each time is a failure twice, then runs alone and is poison", async () => {
    await using site = await Site.open({ engine });
    const gate = `${site.folder.path}/gate`;
    const exiting = await site.publish("Exiting", ["exits", ""], { maxFailures: 25 });
    await site.publish("Hold", ["neighbour", gate]);
    const node = await site.node({ args: ["-c", "2"] });
    await node.until("a suspect waits until nothing else runs on this node");
    expect(site.notes("begun").filter(({ key }) => key === "exits")).toHaveLength(2);
    site.folder.write("gate");
    await node.until("it is poison");
    await site.until("it to be archived", async () => (await archive(site)).length === 1);
    expect(await archive(site)).toEqual([{ id: exiting, exceptionType: "PoisonJob", failureCount: 3 }]);
    expect(site.notes("begun").filter(({ key }) => key === "exits")).toHaveLength(3);
    await site.publish("Quick", ["after"]);
    await site.noted("done", "after");
    expect(site.notes("done").map(({ key }) => key)).toEqual(["neighbour", "after"]);
    expect(await node.stop()).toBe(0);
  });

  test("a suspect waits for long neighbours, holds back what comes, succeeds alone, and is a suspect no more", async () => {
    await using site = await Site.open({ engine });
    const [gate, neighbours] = [`${site.folder.path}/gate`, `${site.folder.path}/neighbours`];
    const innocent = await site.publish("Hold", ["innocent", gate]);
    await killWhile(site, "innocent", 2);
    await site.catalog.pause("default");
    await site.publish("Hold", ["long", neighbours], { channel: "other" });
    const node = await site.node({ args: ["-c", "2", "--channel", "default", "--channel", "other"] });
    await site.noted("begun", "long");
    await site.catalog.resume("default");
    await node.until("a suspect waits until nothing else runs on this node");
    await site.publish("Quick", ["later"], { channel: "other" });
    site.folder.write("neighbours");
    await site.noted("begun", "innocent", 2);
    expect(site.notes("done").map(({ key }) => key)).toEqual(["long"]);
    site.folder.write("gate");
    await site.noted("done", "later");
    await site.drained();
    expect(site.notes("done").map(({ key }) => key)).toEqual(["long", "innocent", "later"]);
    expect(await site.crashes(innocent)).toBe(0);
    expect(await archive(site)).toEqual([]);
    expect(await node.stop()).toBe(0);
  });

  test("a node stops in time while a suspect waits, and while one runs alone; neither is poison", async () => {
    await using site = await Site.open({ engine });
    const gate = `${site.folder.path}/gate`;
    const innocent = await site.publish("Hold", ["innocent", gate]);
    await killWhile(site, "innocent", 2);
    const alone = await site.node({ args: ["-t", "0.2"] });
    await site.noted("begun", "innocent", 2);
    expect(await alone.stop()).toBe(0);
    await site.catalog.pause("default");
    await site.publish("Hold", ["long", gate], { channel: "other" });
    const waiting = await site.node({
      args: ["-c", "2", "-t", "0.2", "--channel", "default", "--channel", "other"],
    });
    await site.noted("begun", "long");
    await site.catalog.resume("default");
    await waiting.until("a suspect waits until nothing else runs on this node");
    expect(await waiting.stop()).toBe(0);
    expect(await site.crashes(innocent)).toBe(2);
    site.folder.write("gate");
    await site.node({ args: ["--channel", "default", "--channel", "other"] });
    for (const key of ["innocent", "long"]) await site.noted("done", key);
    await site.drained();
    expect(await archive(site)).toEqual([]);
  });
});

test("two nodes and several poison jobs: each is archived after its last chance, all innocents are done", async () => {
  await using site = await Site.open();
  const innocents = await site.publishMany("Slow", numbered(300));
  const poison = await site.publishMany(
    "Aborting",
    [1, 2, 3].map((number) => [`poison${number}`, "", true]),
  );
  const args = ["-c", "2", "-s", "2"];
  await using first = new Supervisor(site, { args });
  await using second = new Supervisor(site, { args });
  await site.until("all poison to be archived", () => site.notes("final").length >= 3);
  await site.drained();
  expect((await archive(site)).map(({ id }) => id).toSorted()).toEqual(poison.toSorted());
  expect(first.deaths + second.deaths).toBeLessThanOrEqual(9);
  expect(new Set(site.notes("done").map(({ key }) => key)).size).toBe(300);
  expect(
    (await site.catalog.integrityCheck({ expectedIds: [...innocents, ...poison], ackedIds: innocents }))
      .isSound,
  ).toBe(true);
});
