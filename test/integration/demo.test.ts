import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { RedisServer } from "../support/redis-server.ts";
import { until } from "../support/until.ts";

const main = join(import.meta.dir, "..", "..", "examples", "demo", "main.ts");
/** Enough that some fail and some are scheduled. */
const fileCount = 45;

let folder: string;
let tree: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "demo-test-"));
  tree = join(folder, "tree");
  mkdirSync(join(folder, "tmp"));
  for (let index = 0; index < fileCount; index++) {
    await Bun.write(join(tree, `part ${index % 3}`, `file é ${index}.txt`), "line\n".repeat(index * 100));
  }
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function spawnDemo(...args: string[]) {
  // Without a PATH there is no redis-server to be found.
  const env = { ...process.env, TMPDIR: join(folder, "tmp"), PATH: "" };
  return Bun.spawn([process.execPath, main, ...args], {
    env,
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
}

async function demo(...args: string[]): Promise<{ exitCode: number; stdout: string; stderr: string }> {
  const run = spawnDemo(...args);
  const [stdout, stderr, exitCode] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  return { exitCode, stdout, stderr };
}

describe("the demo", () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await RedisServer.start();
  });
  afterAll(() => server.stop());

  test.each([
    ["the embedded engine", () => [], /^store {7}the embedded engine, in one file$/m],
    ["Redis", () => ["--url", server.url], /^store {7}Redis$/m],
  ] as [string, () => string[], RegExp][])(
    "on %s runs one job per file, retries, keeps its schedule and finds everything in order",
    async (_name, url, store) => {
      const { exitCode, stdout, stderr } = await demo(tree, "--concurrency", "2", ...url());
      expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
      expect(stdout).toMatch(store);
      expect(stdout).toContain(`files       ${fileCount} in ${tree}`);
      expect(stdout).toMatch(/^retries {5}4, of 3 jobs that fail on purpose$/m);
      expect(stdout).toMatch(/^scheduled {3}3 jobs, begun when a worker was free: \d+ ms after their time/m);
      expect(stdout).toMatch(/^worker 1 /m);
      expect(stdout).toContain(`${fileCount} of ${fileCount} equal an independent computation`);
      expect(stdout).toMatch(/^integrity {3}sound/m);
    },
  );

  test("leaves nothing behind: no file, and no key in a Redis that was given", async () => {
    await server.send("SET", "mine", "untouched");
    for (const url of [[], ["--url", server.url]]) expect((await demo(tree, ...url)).exitCode).toBe(0);
    expect(await server.send("KEYS", "*")).toEqual(["mine"]);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  test("stops at an interruption, exits 1 and cleans up", async () => {
    const run = spawnDemo(tree, "--url", server.url);
    // Scheduled jobs are stored, and are not due for another second.
    await until(async () => ((await server.send("KEYS", "*:planned")) as string[]).length > 0);
    run.kill("SIGINT");
    expect(await run.exited).toBe(1);
    expect(await run.stderr.text()).toBe("demo: interrupted\n");
    expect(await server.send("KEYS", "solid_jobs_demo*")).toEqual([]);
    expect(readdirSync(join(folder, "tmp"))).toEqual([]);
  });

  test.each([
    ["a path that does not exist", "missing"],
    ["a tree without files", "tmp"],
  ])("refuses %s with one line", async (_, name) => {
    const { exitCode, stdout, stderr } = await demo(join(folder, name));
    expect(exitCode).toBe(1);
    expect(stdout).toBe("");
    expect(stderr).toMatch(/^demo: [^\n]+\n$/);
  });
});
