import { expect, test } from "bun:test";
import { Site } from "../support/site.ts";

const jobs = `import { Task } from "solid-jobs";
  import { appendFileSync } from "node:fs";
  export class Counted extends Task { executeTask() { appendFileSync("counted", "x"); } }
  export class Stuck extends Task { executeTask() { appendFileSync("stuck", "x"); while (true); } }
  export class Native extends Task { executeTask() { appendFileSync("stuck", "x"); Bun.sleepSync(60_000); } }`;

/** An application with a node in it; it prints what `print` is given, one JSON object a line. */
async function application(site: Site, source: string) {
  const module = site.module("jobs.ts", jobs);
  const main = site.module(
    "application.ts",
    `import { existsSync } from "node:fs";
     import { Conductor, SolidJobsError } from "solid-jobs";
     const print = (message: string, fields = {}) => console.log(JSON.stringify({ level: "info", message, ...fields }));
     const fileExists = async (path: string) => { while (!existsSync(path)) await Bun.sleep(10); };
     const given = { require: [process.env.MODULE!], concurrency: 2, timeout: 0.2, logLevel: "warn" } as const;
     ${source}`,
  );
  return site.program(main, { MODULE: module, SOLID_JOBS_REDIS_URL: site.redis.url });
}

test("stop resolves with a report; the application's exit code and signal handlers are its own", async () => {
  await using site = await Site.open();
  const program = await application(
    site,
    `process.exitCode = 7;
     const before = process.listenerCount("SIGTERM");
     const conductor = new Conductor(given);
     await conductor.start();
     await fileExists("stuck");
     const report = await conductor.stop();
     print("stopped", { report, again: await conductor.stop(), status: await conductor.finished,
       listeners: process.listenerCount("SIGTERM") - before + process.listenerCount("SIGINT") });`,
  );
  await site.publish("Stuck");
  const report = { requeued: 1, heldWorkers: [], hasLeft: true };
  expect(await program.until("stopped")).toMatchObject({ report, again: report, status: 0, listeners: 0 });
  expect(await program.exited).toBe(7); // ends by itself: nothing of the node keeps it alive
});

test("stop names the threads that a native call still holds, and resolves all the same", async () => {
  await using site = await Site.open();
  const program = await application(
    site,
    `const conductor = new Conductor(given);
     await conductor.start();
     await fileExists("stuck");
     print("stopped", { report: await conductor.stop() });
     process.exit(0);`,
  );
  await site.publish("Native");
  const { report } = await program.until("stopped");
  expect(report).toMatchObject({ requeued: 1, hasLeft: true });
  expect((report as { heldWorkers: number[] }).heldWorkers).toHaveLength(1);
  expect(await program.exited).toBe(0);
});

test("stop and start in any order: before, during and after a start", async () => {
  await using site = await Site.open();
  const program = await application(
    site,
    `const codeOf = (call: Promise<unknown>) => call.then(() => "started", (error: SolidJobsError) => error.code);
     const never = new Conductor(given);
     const early = await never.stop();
     const afterwards = await codeOf(never.start());
     const during = new Conductor(given);
     const starting = codeOf(during.start());
     const stopped = await during.stop();
     const twice = new Conductor(given);
     await Promise.all([twice.start(), twice.start()]);
     const [one, other] = await Promise.all([twice.stop(), twice.stop()]);
     print("done", { early, afterwards, during: await starting, stopped, isSame: one === other });`,
  );
  const nothing = { requeued: 0, heldWorkers: [], hasLeft: true };
  expect(await program.until("done")).toMatchObject({
    early: nothing,
    afterwards: "STOPPED",
    during: "STOPPED",
    stopped: nothing,
    isSame: true,
  });
  expect(await program.exited).toBe(0);
  expect(await site.redis.send("KEYS", "*")).toEqual([]);
});

test("a start that fails rejects, leaves nothing behind and lets the application go on", async () => {
  await using site = await Site.open();
  site.module("broken.ts", "throw new Error('not today');");
  const program = await application(
    site,
    `const broken = new Conductor({ ...given, require: [process.env.MODULE!.replace("jobs.ts", "broken.ts")] });
     const error = await broken.start().then(() => undefined, (thrown: SolidJobsError) => thrown);
     const away = new Conductor({ ...given, redisUrl: "redis://127.0.0.1:1" });
     const unreachable = await away.start().then(() => undefined, (thrown: SolidJobsError) => thrown);
     print("done", { code: error?.code, text: error?.message, status: await broken.finished, unreachable: unreachable?.code });`,
  );
  const line = await program.until("done");
  expect(line).toMatchObject({ code: "MODULE", status: 1, unreachable: "STORE_UNAVAILABLE" });
  expect(line["text"]).toContain("not today");
  expect(await program.exited).toBe(0);
  expect(await site.redis.send("KEYS", "*")).toEqual([]);
});

test("restart brings a new identity and goes on; threads and connections do not pile up", async () => {
  await using site = await Site.open();
  const program = await application(
    site,
    `import { readdirSync } from "node:fs";
     const conductor = new Conductor(given);
     await conductor.start();
     const first = conductor.description.identity;
     await conductor.restart();
     const count = (path: string) => readdirSync(path).length;
     const before = { threads: count("/proc/self/task"), files: count("/proc/self/fd") };
     for (let i = 0; i < 5; i++) await conductor.restart();
     const after = { threads: count("/proc/self/task"), files: count("/proc/self/fd") };
     print("restarted", { isNew: first !== conductor.description.identity, before, after });
     await fileExists("counted");
     await conductor.stop();`,
  );
  const { isNew, before, after } = await program.until("restarted");
  expect(isNew).toBe(true);
  const grown = (name: string) =>
    (after as Record<string, number>)[name]! - (before as Record<string, number>)[name]!;
  expect(grown("threads")).toBeLessThan(3);
  expect(grown("files")).toBeLessThan(8);
  await site.publish("Counted");
  expect(await program.exited).toBe(0);
});
