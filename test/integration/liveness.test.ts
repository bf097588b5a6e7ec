import { expect, test } from "bun:test";
import type { NodeProcess } from "../support/node-process.ts";
import { Site } from "../support/site.ts";

// Judging by age takes ten seconds of steadiness: the tests that need it wait side by side.

test.concurrent("an outage longer than the ttl: nobody is judged dead for it, not even who comes back last", async () => {
  await using site = await Site.open();
  const env = { SOLID_JOBS_TTL: "3" };
  const nodes = await Promise.all([site.node({ env }), site.node({ env }), site.node({ env })]);
  const [first, , last] = nodes as [NodeProcess, NodeProcess, NodeProcess];
  const gate = `${site.folder.path}/gate`;
  await site.publishMany("Hold", [
    ["a", gate],
    ["b", gate],
    ["c", gate],
  ]);
  for (const key of ["a", "b", "c"]) await site.noted("begun", key);
  await areSteady(site, nodes);
  site.redis.freeze();
  await Promise.all(nodes.map((node) => node.until("the heartbeat failed")));
  last.signal("SIGSTOP");
  site.redis.resume();
  await first.until("the heartbeat: works again");
  const since = (await lifeOf(site, first)).beat;
  // Time for several rounds of judging, but less than a judge must have been steady.
  await site.until("rounds of judging", async () => (await lifeOf(site, first)).beat > since + 6);
  expect((await lifeOf(site, last)).isDead).toBe(false);
  last.signal("SIGCONT");
  await areSteady(site, nodes);
  site.folder.write("gate");
  for (const key of ["a", "b", "c"]) await site.noted("done", key);
  await site.drained();
  expect(site.notes("begun")).toHaveLength(3);
  for (const node of nodes) expect(node.count("declared dead") + node.count("recovered a dead node")).toBe(0);
});

test.concurrent("a node that was killed mid-job is recovered by proof: its job runs again, a crash counted", async () => {
  await using site = await Site.open();
  const node = await site.node();
  const gate = `${site.folder.path}/gate`;
  const id = await site.publish("Hold", ["a", gate]);
  await site.noted("begun");
  const other = await site.node();
  await node.kill();
  const killedAt = Date.now();
  const again = await site.noted("begun", "a", 1);
  console.log(`a killed node's job ran again after ${again.at - killedAt} ms`);
  expect(again.pid).toBe(other.pid);
  expect(await other.until("recovered a dead node")).toMatchObject({ jobs: 1, proof: true });
  expect(Number(await site.redis.send("GET", `solid_jobs:crashes:${id}`))).toBe(1);
  site.folder.write("gate");
  await site.noted("done", "a");
  await site.drained();
  expect(await site.catalog.counters()).toMatchObject({ processed: 1, failed: 0 });
});

test.concurrent("two nodes that recover a dead one with many jobs take each of them back once", async () => {
  await using site = await Site.open();
  const gate = `${site.folder.path}/gate`;
  const keys = Array.from({ length: 300 }, (_, i) => `k${i}`);
  const dead = await site.node({ args: ["-c", "1", "-s", "300"] });
  const ids = await site.publishMany(
    "Hold",
    keys.map((key) => [key, gate]),
  );
  await site.until("all jobs to begin", () => site.notes("begun").length === 300);
  const others = await Promise.all([site.node({ args: ["-s", "100"] }), site.node({ args: ["-s", "100"] })]);
  site.folder.write("gate");
  await site.redis.send("SADD", "solid_jobs:paused_channels", "default");
  dead.signal("SIGSTOP"); // not a moment between the gate and the end
  await dead.kill();
  await Promise.any(others.map((node) => node.until("recovered a dead node")));
  const recovered = await site.redis.send("LLEN", "solid_jobs:channel:default");
  const done = site.notes("done").length;
  const { processed } = await site.catalog.counters();
  expect(Number(recovered) + processed).toBe(300);
  await site.redis.send("DEL", "solid_jobs:paused_channels");
  await site.drained();
  console.log(`recovered ${recovered} jobs, of which ${done - processed} had ended unsettled`);
  expect(new Set(site.notes("done").map(({ key }) => key)).size).toBe(300);
  expect((await site.catalog.integrityCheck({ expectedIds: ids, ackedIds: ids })).isSound).toBe(true);
});

test.concurrent("a node frozen beyond its ttl loses its jobs to others; thawed, it begins again with one warning", async () => {
  await using site = await Site.open();
  const env = { SOLID_JOBS_TTL: "3" };
  const frozen = await site.node({ env, args: ["-t", "1"] });
  const { identity } = frozen;
  const gate = `${site.folder.path}/gate`;
  await site.publish("Hold", ["a", gate]);
  await site.noted("begun");
  const other = await site.node({ env });
  await areSteady(site, [other]);
  frozen.signal("SIGSTOP");
  expect((await site.noted("begun", "a", 1)).pid).toBe(other.pid);
  expect(await other.until("recovered a dead node")).toMatchObject({ jobs: 1, proof: false });
  site.folder.write("gate");
  await site.noted("done", "a");
  await site.drained();
  frozen.signal("SIGCONT");
  await frozen.until("beginning again");
  await site.until("the new identity", async () => {
    const found = [];
    for await (const node of site.catalog.nodes()) found.push(node.identity);
    return found.length === 2 && !found.includes(identity);
  });
  expect(frozen.count("was declared dead")).toBe(1);
  expect(await site.catalog.counters()).toMatchObject({ processed: 1, failed: 0 });
  await other.stop();
  await site.publish("Quick", ["b"]);
  expect((await site.noted("done", "b")).pid).toBe(frozen.pid);
  expect(await frozen.stop()).toBe(0);
});

test.concurrent("a node inside an application whose main thread is blocked lives on for the others", async () => {
  await using site = await Site.open();
  const application = site.module(
    "application.ts",
    `import { Conductor } from "solid-jobs";
     const conductor = new Conductor({ require: [process.env.MODULE!], ttl: 3, concurrency: 1, timeout: 1 });
     await conductor.start();
     console.log(JSON.stringify({ level: "info", message: "node started", identity: conductor.description.identity }));
     const endsAt = performance.now() + 20_000;
     while (performance.now() < endsAt);
     console.log(JSON.stringify({ level: "info", message: "unblocked" }));
     await conductor.stop();`,
  );
  const module = site.module(
    "quick.ts",
    `import { Task } from "solid-jobs";
     import { appendFileSync } from "node:fs";
     export class Counted extends Task { executeTask() { appendFileSync("counted", "x"); } }`,
  );
  const judge = await site.node({ env: { SOLID_JOBS_TTL: "3" }, args: ["--channel", "other"] });
  await areSteady(site, [judge]);
  const env = { MODULE: module, SOLID_JOBS_REDIS_URL: site.redis.url };
  const blocked = await site.program(application, env).started();
  await site.publishMany("Counted", [[], [], []]);
  await site.until("jobs while it is blocked", async () => (await textOf(site, "counted")) === "xxx");
  expect(blocked.count("unblocked")).toBe(0);
  await blocked.until("unblocked");
  expect(await blocked.exited).toBe(0);
  expect(blocked.count("declared dead") + judge.count("recovered a dead node")).toBe(0);
});

test.concurrent("a worker with free slots that a job holds for half a minute is replaced; its neighbours just move", async () => {
  await using site = await Site.open();
  const gate = `${site.folder.path}/gate`;
  const node = await site.node({ args: ["-s", "3"] });
  await site.publish("Hold", ["neighbour", gate], { maxFailures: 0 });
  await site.noted("begun", "neighbour");
  await site.publish("Spinning", ["a", gate]);
  await node.until("a worker with free slots stands still");
  site.folder.write("gate");
  await site.noted("done", "a");
  await site.noted("done", "neighbour");
  await site.drained();
  expect(
    site
      .notes("begun")
      .map(({ key, attempt }) => `${key} ${attempt}`)
      .sort(),
  ).toEqual(["a 1", "a 2", "neighbour 1", "neighbour 1"]);
  expect(await site.catalog.counters()).toMatchObject({ processed: 2, failed: 1, discarded: 0 });
});

test.concurrent("two nodes of one process do not take each other for its past", async () => {
  await using site = await Site.open();
  const module = site.module(
    "two.ts",
    `import { Task } from "solid-jobs";
     import { appendFileSync } from "node:fs";
     export class Counted extends Task { executeTask() { appendFileSync("counted", "x"); } }`,
  );
  const application = site.module(
    "application.ts",
    `import { Conductor } from "solid-jobs";
     const given = { require: [process.env.MODULE!], concurrency: 1, timeout: 1 };
     const nodes = [new Conductor(given), new Conductor(given)];
     await Promise.all(nodes.map((node) => node.start()));
     console.log(JSON.stringify({ level: "info", message: "node started" }));
     process.on("SIGTERM", async () => {
       const reports = await Promise.all(nodes.map((node) => node.stop()));
       process.exit(reports.every(({ hasLeft }) => hasLeft) ? 0 : 1);
     });`,
  );
  const env = { MODULE: module, SOLID_JOBS_REDIS_URL: site.redis.url };
  const process = await site.program(application, env).started();
  const nodes: string[] = [];
  for await (const { identity } of site.catalog.nodes()) nodes.push(identity);
  expect(nodes).toHaveLength(2);
  // Long enough for either to have judged the other, by proof and by age.
  await site.until("many beats", async () => {
    const lives = await Promise.all(nodes.map((identity) => lifeAt(site, identity)));
    return lives.every(({ beat, beatingSince }) => beat > beatingSince + 11);
  });
  await site.publish("Counted");
  await site.until("the job", async () => (await textOf(site, "counted")) === "x");
  expect(process.count("declared dead") + process.count("recovered a dead node")).toBe(0);
  expect(await process.stop()).toBe(0);
});

/** Every node has beaten without a gap for as long as a judge must have. */
function areSteady(site: Site, nodes: readonly NodeProcess[]): Promise<unknown> {
  return site.until("steady judges", async () => {
    const lives = await Promise.all(nodes.map((node) => lifeOf(site, node)));
    return lives.every(({ beat, beatingSince }) => beat > beatingSince + 10.5);
  });
}

function lifeOf(site: Site, { identity }: NodeProcess) {
  return lifeAt(site, identity);
}

async function lifeAt(site: Site, identity: string) {
  const key = `solid_jobs:node:${identity}`;
  const stored = (await site.redis.send("HMGET", key, "beat", "beating_since", "dead")) as string[];
  return { beat: Number(stored[0]), beatingSince: Number(stored[1]), isDead: stored[2] !== null };
}

async function textOf(site: Site, name: string): Promise<string> {
  const file = Bun.file(`${site.folder.path}/${name}`);
  return (await file.exists()) ? file.text() : "";
}
