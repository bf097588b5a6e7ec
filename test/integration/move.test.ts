import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import type { CatalogHarness } from "../store/catalog/harness.ts";
import { redisCatalogHarness } from "../store/redis/catalog-harness.ts";
import { sqliteCatalogHarness } from "../store/sqlite/catalog-harness.ts";
import { RedisServer } from "../support/redis-server.ts";
import { ownEnvelope, sha1 } from "../support/stored.ts";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const main = join(import.meta.dir, "..", "..", "bin", "solid-jobs.ts");
const jobCount = 20_000;
let server: RedisServer;
let folder: TemporaryFolder;
beforeAll(async () => {
  server = await RedisServer.start();
  folder = temporaryFolder();
});
afterAll(async () => {
  await server.stop();
  folder[Symbol.dispose]();
});

interface Place {
  readonly harness: CatalogHarness;
  readonly url: string;
  readonly prefix: string;
}

async function redis(): Promise<Place> {
  const harness = await redisCatalogHarness(server.url);
  return { harness, url: server.url, prefix: harness.transfer.identity.split(" ")[1]! };
}

async function sqlite(): Promise<Place> {
  const harness = await sqliteCatalogHarness();
  return { harness, url: `sqlite:${harness.path}`, prefix: "" };
}

function spawn(...args: string[]) {
  return Bun.spawn([process.execPath, main, "move", ...args], {
    cwd: folder.path,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function run(...args: string[]) {
  const command = spawn(...args);
  const [stdout, stderr, exitCode] = await Promise.all([
    command.stdout.text(),
    command.stderr.text(),
    command.exited,
  ]);
  return { stdout, stderr, exitCode };
}

const count = async ({ transfer }: CatalogHarness) =>
  (await transfer.size({ state: "ready", channel: "default" })) + (await transfer.size({ state: "planned" }));

describe.each([
  ["from the embedded engine to Redis", sqlite, redis],
  ["from Redis to the embedded engine", redis, sqlite],
])("solid-jobs move %s", (_name, openFrom, openTo) => {
  test("killed in the middle and run again, moves twenty thousand jobs once each and in order", async () => {
    const [from, to] = [await openFrom(), await openTo()];
    try {
      const payloads = Array.from({ length: jobCount }, (_, i) => ownEnvelope(`job-${i}`));
      const [ready, planned] = [payloads.slice(0, 15_000), payloads.slice(15_000)];
      await from.harness.push("default", ...ready);
      await from.harness.put("planned", ...planned.map((payload, i) => [2e9 + i, payload] as const));
      const prefix = from.prefix || to.prefix;
      const args = ["--from", from.url, "--to", to.url, "--prefix", prefix, "--delete"];

      const killed = spawn(...args);
      await until(async () => (await count(to.harness)) > 2000, { what: "the first jobs to arrive" });
      killed.kill("SIGKILL");
      await killed.exited;
      const arrived = await count(to.harness);
      expect(arrived).toBeLessThan(jobCount);
      expect(await count(from.harness)).toBe(jobCount);

      const { stdout, stderr, exitCode } = await run(...args);
      expect({ stderr, exitCode }).toEqual({ stderr: "", exitCode: 0 });
      expect(JSON.parse(stdout)).toMatchObject({
        counts: { ready: 15_000, planned: 5_000, retrying: 0, discarded: 0 },
        added: jobCount - arrived,
        removed: jobCount,
        isResumed: true,
      });
      expect((await to.harness.channel("default")).map(sha1)).toEqual(ready.map(sha1));
      expect((await to.harness.set("planned")).map(sha1)).toEqual(planned.map(sha1));
      expect([await count(from.harness), await to.harness.journals()]).toEqual([0, []]);
    } finally {
      await from.harness.close();
      await to.harness.close();
    }
  }, 60_000);
});

describe("solid-jobs move", () => {
  test.each<[string, string[], RegExp]>([
    ["no store to move to", ["--from", "sqlite:a"], /required option '--to <url>' not specified/],
    ["no store to move from", ["--to", "sqlite:a"], /required option '--from <url>' not specified/],
    [
      "a word that is no URL",
      ["--from", "nonsense", "--to", "sqlite:a"],
      /flag --from: expected a URL.*"nonsense"/,
    ],
    ["a URL of another kind", ["--from", "sqlite:a", "--to", "http://h"], /flag --to: expected a URL/],
    [
      "a file that does not exist",
      ["--from", "sqlite:a", "--to", "sqlite:b"],
      /flag --from: there is no file .*a$/m,
    ],
    [
      "a flag of nodes",
      ["--from", "sqlite:a", "--to", "sqlite:b", "-c", "2"],
      /move has no use for --concurrency/,
    ],
    ["a flag that does not exist", ["--from", "sqlite:a", "--to", "sqlite:b", "--deleet"], /unknown option/],
    [
      "a stray word",
      ["--from", "sqlite:a", "--to", "sqlite:b", "now"],
      /too many arguments|expected flags only/,
    ],
  ])("refuses %s with one line, and makes nothing", async (_name, args, expected) => {
    const { stdout, stderr, exitCode } = await run(...args);
    expect({ stdout, exitCode }).toEqual({ stdout: "", exitCode: 1 });
    expect(stderr).toMatch(/^solid-jobs: [^\n]+\n$/);
    expect(stderr).toMatch(expected);
    expect([...new Bun.Glob("**").scanSync(folder.path)]).toEqual([]);
  });

  test("says what to do when a node works on the store", async () => {
    const from = await sqlite();
    try {
      await from.harness.liveNode("host~bun:1:aaaaaaaaaaaa");
      const { stderr, exitCode } = await run("--from", from.url, "--to", server.url);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(
        /^solid-jobs: the node host~bun:1:a+ works on sqlite:.*: stop all nodes of both stores/,
      );
    } finally {
      await from.harness.close();
    }
  });

  test("refuses what a killed node has left held, and moves it when a node has put it back", async () => {
    const [from, to] = [await sqlite(), await redis()];
    const jobs = folder.write(
      "jobs.ts",
      `import { Task } from ${JSON.stringify(import.meta.resolve("../../src/index.ts"))};
      export class Wait extends Task {
        static options = { channel: "held" };
        async executeTask() { await new Promise((resolve) => this.signal.addEventListener("abort", resolve)); }
      }`,
    );
    const startNode = (channel: string) =>
      Bun.spawn(
        [process.execPath, main, "-r", jobs, "-c", "1", "-t", "0", "--channel", channel, "--url", from.url],
        { stdin: "ignore", stdout: "ignore", stderr: "inherit" },
      );
    const claims = async () => (await from.harness.catalog.survey()).nodes.length;
    try {
      await from.harness.push("held", ownEnvelope("job", "held").replace('"task":"Count"', '"task":"Wait"'));
      const killed = startNode("held");
      await until(async () => (await claims()) > 0, { what: "the job to be reserved" });
      killed.kill("SIGKILL");
      await killed.exited;
      const args = ["--from", from.url, "--to", to.url, "--prefix", to.prefix];
      expect((await run(...args)).stderr).toMatch(
        /1 claims of jobs are left in sqlite:.*: start a node on it/,
      );

      const recovering = startNode("other");
      await until(async () => (await claims()) === 0, { what: "the job to be put back" });
      recovering.kill("SIGTERM");
      expect(await recovering.exited).toBe(0);
      expect(await run(...args)).toMatchObject({ stderr: "", exitCode: 0 });
      expect(await to.harness.transfer.size({ state: "ready", channel: "held" })).toBe(1);
    } finally {
      await from.harness.close();
      await to.harness.close();
      rmSync(jobs);
    }
  }, 60_000);

  test("goes on after an interruption, which it answers with one line", async () => {
    const [from, to] = [await sqlite(), await redis()];
    try {
      await from.harness.push(
        "default",
        ...Array.from({ length: jobCount }, (_, i) => ownEnvelope(`job-${i}`)),
      );
      const args = ["--from", from.url, "--to", to.url, "--prefix", to.prefix];
      const interrupted = spawn(...args);
      await until(async () => (await count(to.harness)) > 0, { what: "the first jobs to arrive" });
      interrupted.kill("SIGINT");
      expect(await interrupted.exited).toBe(1);
      expect(await interrupted.stderr.text()).toBe(
        "solid-jobs: interrupted: run the same command again to go on\n",
      );
      expect((await run(...args)).exitCode).toBe(0);
      expect(await count(to.harness)).toBe(jobCount);
    } finally {
      await from.harness.close();
      await to.harness.close();
    }
  }, 60_000);
});
