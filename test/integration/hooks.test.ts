import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { Site } from "../support/site.ts";

/** A module whose hooks write a line each, with the thread's id. */
const observed = `
  import { appendFileSync } from "node:fs";
  import { threadId } from "node:worker_threads";
  import { configure, type JobEvent, Task } from "solid-jobs";
  const note = (...words: unknown[]) => appendFileSync("hooks", [threadId, ...words].join(" ") + "\\n");
  class Observer {
    constructor() { note("constructed"); }
    record({ name, job }: JobEvent) { note(name, job.id); }
  }
  configure({
    startup: [() => note("startup 1"), async () => { await Bun.sleep(5); note("startup 2"); }],
    quiet: () => note("quiet"),
    shutdown: [() => { note("shutdown 1"); throw new Error("a shutdown that fails"); }, () => note("shutdown 2")],
    instrumenters: Observer,
    errorHandlers: [
      () => { throw new Error("a handler that fails"); },
      (error, { envelope, attempt }) => note("error", envelope?.id, attempt, error.message),
    ],
    executeInterceptors: [
      async ({ envelope }, next) => { note("outer", envelope.id); await next(); note("outer end", envelope.id); },
      async ({ envelope }, next) => { note("inner", envelope.id); return next(); },
    ],
  });
  export class Fine extends Task { executeTask() { note("run", this.taskId); } }
  export class Twice extends Task {
    static retryDelay = () => 0;
    executeTask() { note("run", this.taskId); if (this.attempt === 1) throw new Error("once"); }
  }
  export class Never extends Task {
    static options = { maxFailures: 0 };
    executeTask() { throw new Error("always"); }
    static afterFinalFailure() { note("final"); }
  }
  export class Parent extends Task {
    async executeTask() { await Fine.withOptions({ id: "child" }).enqueue(); }
  }`;

function lines(site: Site): string[][] {
  const text = readFileSync(`${site.folder.path}/hooks`, "utf8");
  return text
    .trim()
    .split("\n")
    .map((line) => line.split(" "));
}

function of(site: Site, id: string): string[] {
  return lines(site)
    .filter((words) => words.includes(id))
    .map((words) =>
      words
        .filter((word) => word !== id)
        .slice(1)
        .join(" "),
    );
}

test("a job's events, interceptors and error handlers come in their order", async () => {
  await using site = await Site.open();
  const node = await site.node({ modules: [site.module("observed.ts", observed)] });
  await site.publish("Fine", [], { id: "fine" });
  await site.publish("Twice", [], { id: "twice" });
  await site.publish("Never", [], { id: "never", maxFailures: 0 });
  await site.drained();
  expect(await node.stop()).toBe(0);
  const run = ["job.reserved", "job.started", "outer", "inner"];
  expect(of(site, "fine")).toEqual([...run, "run", "outer end", "job.completed", "job.acknowledged"]);
  expect(of(site, "twice")).toEqual([
    ...[...run, "run", "job.failed", "error 1 once", "job.retry_scheduled", "job.acknowledged"],
    ...[...run, "run", "outer end", "job.completed", "job.acknowledged"],
  ]);
  expect(of(site, "never")).toEqual([...run, "job.failed", "error 1 always", "job.dead", "job.acknowledged"]);
  expect(lines(site).filter((words) => words[1] === "final")).toHaveLength(1);
  expect(node.count("an error handler threw")).toBe(2);
});

test("lifecycle callbacks run in each worker, in order; one that throws is told and hinders nothing", async () => {
  await using site = await Site.open();
  const node = await site.node({ modules: [site.module("observed.ts", observed)], args: ["-c", "3"] });
  node.signal("SIGTSTP");
  await site.until("all to be quiet", () => lines(site).filter((words) => words[1] === "quiet").length === 3);
  expect(await node.stop()).toBe(0);
  const byThread = Map.groupBy(lines(site), ([thread]) => thread);
  const lives = [...byThread.values()].map((each) => each.map((words) => words.slice(1).join(" ")));
  const expected = ["constructed", "startup 1", "startup 2", "quiet", "shutdown 1", "shutdown 2"];
  expect(lives).toEqual([expected, expected, expected]);
  expect(node.count("a shutdown callback threw")).toBe(3);
});

test("a startup callback that throws stops the start with its reason and 1, nothing half started", async () => {
  await using site = await Site.open();
  const failing = site.module(
    "failing.ts",
    `import { configure, Task } from "solid-jobs";
     configure({ startup: () => { throw new Error("no licence"); } });
     export class Never extends Task { executeTask() {} }`,
  );
  const node = site.spawn({ modules: [failing] });
  expect(await node.exited).toBe(1);
  expect(node.dump()).toContain("no licence");
  expect(await site.redis.send("KEYS", "*")).toEqual([]);
});

test("what a job publishes is enqueued, journaled, and only then reserved", async () => {
  await using site = await Site.open();
  await site.node({ modules: [site.module("observed.ts", observed)], args: ["-c", "2"] });
  await site.publish("Parent", [], { id: "parent" });
  await site.until("the child", () => of(site, "child").includes("job.acknowledged"));
  expect(of(site, "child").slice(0, 3)).toEqual(["job.enqueued", "job.journaled", "job.reserved"]);
});

test("a recovered job is told to an instrumenter of the node that took it back", async () => {
  await using site = await Site.open();
  const killed = await site.node();
  await site.publish("Hold", ["a", "never"], { id: "other" });
  await site.noted("begun");
  const node = await site.node({ modules: [site.module("observed.ts", observed)] });
  await killed.kill();
  await node.until("recovered a dead node");
  await site.until("the event", () => of(site, "other").includes("job.recovered"));
});

test("errors and decisions that make no sense fail their own job only, and its neighbours go on", async () => {
  await using site = await Site.open();
  const odd = `
    import { Task } from "solid-jobs";
    const throwing = { get() { throw new Error("a getter that throws"); } };
    export class Odd extends Task {
      static options = { maxFailures: 0 };
      async executeTask(kind: string) {
        const error = new Error("x");
        if (kind === "message") Object.assign(error, { message: { status: 500 } });
        if (kind === "getter") Object.defineProperty(error, "message", throwing);
        if (kind === "proxy") throw new Proxy(error, throwing);
        throw error;
      }
    }
    export class Later extends Task {
      executeTask() { throw new Error("x"); }
      static retryDelay = () => 1e300;
    }
    export class Neighbour extends Task {
      async executeTask() { await Bun.sleep(300); }
    }`;
  const node = await site.node({ modules: [site.module("odd.ts", odd)], args: ["-c", "1", "-s", "10"] });
  await site.publish("Neighbour", [], { id: "neighbour" });
  for (const kind of ["message", "getter", "proxy"])
    await site.publish("Odd", [kind], { id: kind, maxFailures: 0 });
  await site.publish("Later", [], { id: "later", maxFailures: 1 });
  await site.drained();
  expect(await site.catalog.counters()).toMatchObject({ processed: 1, discarded: 4 });
  expect(await node.stop()).toBe(0);
  expect(node.count("a worker's thread died")).toBe(0);
  expect(node.count("Later.retryDelay must return seconds from 0")).toBe(2);
  const stored = await site.catalog.discarded.locate("message");
  expect(stored?.envelope?.exceptionMessage).toContain("500");
});

test("failures are dated by the store's clock, whatever a node's says", async () => {
  await using site = await Site.open();
  const early = `
    import { Task } from "solid-jobs";
    const trueNow = Date.now;
    Date.now = () => trueNow() + 3_600_000;
    export class Never extends Task {
      static options = { maxFailures: 0 };
      async executeTask(kind: string) {
        if (kind === "dies") process.exit(1);
        throw new Error("always");
      }
    }`;
  const node = await site.node({ modules: [site.module("early.ts", early)] });
  await site.publish("Never", ["throws"], { id: "throws", maxFailures: 0 });
  await site.publish("Never", ["dies"], { id: "dies", maxFailures: 0 });
  await site.drained();
  expect(await node.stop()).toBe(0);
  for (const id of ["throws", "dies"]) {
    const { envelope } = (await site.catalog.discarded.locate(id))!;
    expect(Math.abs(envelope!.firstFailedMs! - Date.now())).toBeLessThan(60_000);
  }
});
