import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { configure, resetConfiguration } from "../../src/config/process.ts";
import { PublishUnconfirmed, StoreUnavailable } from "../../src/foundation/errors.ts";
import type { JobEvent } from "../../src/instrumentation/events.ts";
import { close } from "../../src/publisher/process-publisher.ts";
import { Task } from "../../src/task/task.ts";
import { RedisServer } from "../support/redis-server.ts";

const folder = mkdtempSync(join(tmpdir(), "solid-jobs-publishing-"));
let server: RedisServer;
beforeAll(async () => {
  server = await RedisServer.start();
});
afterEach(async () => {
  await close();
  resetConfiguration();
  await server.send("FLUSHALL");
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  await server.stop();
});

class Mail extends Task {
  static options = { channel: "mail" };
  executeTask(_to: string): void {}
}

const library = resolve(import.meta.dir, "../../src");

/** Runs a program of its own that imports the package, and gives its output. */
async function program(text: string): Promise<{ code: number; output: string; errors: string }> {
  const file = join(folder, "program.ts");
  writeFileSync(
    file,
    `import { configure } from "${library}/config/process.ts";
     import { close } from "${library}/publisher/process-publisher.ts";
     import { Task } from "${library}/task/task.ts";\n${text}`,
  );
  const child = Bun.spawn([process.execPath, file], {
    env: { ...process.env, SOLID_JOBS_URL: server.url },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [code, output, errors] = await Promise.all([child.exited, child.stdout.text(), child.stderr.text()]);
  return { code, output, errors };
}

describe("the process's publisher", () => {
  test("stores jobs and planned jobs in the configured store", async () => {
    configure({ url: server.url, prefix: "own:" });
    const id = await Mail.enqueue("ada");
    await Mail.enqueueAfter(60, "bob");
    const raw = (await server.send("LRANGE", "own:channel:mail", 0, -1)) as string[];
    expect(raw.map((text) => JSON.parse(text))).toMatchObject([{ id, task: "Mail", arguments: ["ada"] }]);
    expect(await server.send("ZCARD", "own:planned")).toBe(1);
  });

  test("stores a million bytes of arguments a batch at a time", async () => {
    configure({ url: server.url });
    const ids = await Mail.enqueueMany(Array.from({ length: 1200 }, (_, n): [string] => [`${n}`]));
    expect(new Set(ids).size).toBe(1200);
    expect(await server.send("LLEN", "solid_jobs:channel:mail")).toBe(1200);
  });

  test("follows a later configuration, and publishes again after close", async () => {
    configure({ url: server.url });
    await Mail.enqueue("one");
    configure({ prefix: "next:" });
    await Mail.enqueue("two");
    await close();
    await close();
    await Mail.enqueue("three");
    expect(await server.send("LLEN", "solid_jobs:channel:mail")).toBe(1);
    expect(await server.send("LLEN", "next:channel:mail")).toBe(2);
  });

  test("constructs an instrumenter once, and lifts the barrier in the store", async () => {
    const events: JobEvent[] = [];
    let constructed = 0;
    class Listener {
      constructor() {
        constructed++;
      }
      record(event: JobEvent): void {
        events.push(event);
      }
    }
    configure({ url: server.url, instrumenters: Listener });
    await Mail.enqueue("one");
    await Mail.enqueue("two");
    expect(constructed).toBe(1);
    expect(events.map(({ name }) => name)).toEqual([
      "job.enqueued",
      "job.journaled",
      "job.enqueued",
      "job.journaled",
    ]);
    expect(await server.send("KEYS", "solid_jobs:publication:*")).toEqual([]);
    const [raw] = (await server.send("LRANGE", "solid_jobs:channel:mail", 0, 0)) as string[];
    expect(JSON.parse(raw!)._solid_jobs_publication).toMatch(/^[0-9a-f]{32}$/);
  });

  test("says that nothing was stored when there is no server, and finds it once there is one", async () => {
    const other = await RedisServer.start();
    try {
      await other.kill();
      configure({ url: other.url, publishDeadline: 0.3 });
      const error = await Mail.enqueue("lost").catch((thrown) => thrown);
      expect(error).toBeInstanceOf(StoreUnavailable);
      expect(error.isSent).toBe(false);
      expect(error.message).toContain("Nothing was published");
      await other.restart();
      configure({ publishDeadline: 5 });
      expect(await Mail.enqueue("found")).toBeString();
      expect(await other.send("LLEN", "solid_jobs:channel:mail")).toBe(1);
    } finally {
      await other.stop();
    }
  });

  test("says that it does not know when a server stops answering", async () => {
    const other = await RedisServer.start();
    try {
      configure({ url: other.url, publishDeadline: 0.3 });
      await Mail.enqueue("first");
      other.freeze();
      const error = await Mail.withOptions({ id: "second" })
        .enqueue("second")
        .catch((thrown) => thrown);
      other.resume();
      expect(error).toBeInstanceOf(PublishUnconfirmed);
      expect(error.unconfirmedIds).toEqual(["second"]);
    } finally {
      await other.stop();
    }
  });
});

describe("a program that publishes", () => {
  test("ends by itself, without close", async () => {
    const { code, output, errors } = await program(`
      class Mail extends Task { executeTask(to: string) {} }
      console.log(typeof (await Mail.enqueue("ada")));
    `);
    expect({ code, output, errors }).toEqual({ code: 0, output: "string\n", errors: "" });
  });

  test("opens nothing by importing and configuring", async () => {
    const before = (await server.send("INFO", "stats")) as string;
    const { code } = await program("configure({ maxFailures: 3 });");
    const after = (await server.send("INFO", "stats")) as string;
    const connections = (info: string) => Number(/total_connections_received:(\d+)/.exec(info)![1]);
    expect(code).toBe(0);
    expect(connections(after) - connections(before)).toBe(1); // this test's own second question
  });

  test("may close at once after publishing without awaiting, and loses nothing", async () => {
    const { code, output } = await program(`
      class Mail extends Task { executeTask(to: string) {} }
      const publication = Mail.enqueue("ada");
      await close();
      console.log(typeof (await publication));
    `);
    expect({ code, output }).toEqual({ code: 0, output: "string\n" });
    expect(await server.send("LLEN", "solid_jobs:channel:default")).toBe(1);
  });
});
