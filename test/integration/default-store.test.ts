import { expect, test } from "bun:test";
import { existsSync } from "node:fs";
import { join } from "node:path";
import { type TemporaryFolder, temporaryFolder } from "../support/temporary-folder.ts";
import { until } from "../support/until.ts";

const command = join(import.meta.dir, "..", "..", "bin", "solid-jobs.ts");
const library = JSON.stringify(import.meta.resolve("../../src/index.ts"));

/** A workspace of two packages, one of which publishes; without any setting. */
function workspace(folder: TemporaryFolder) {
  folder.write("package.json", '{"workspaces": ["packages/*"]}');
  folder.write("packages/web/package.json", "{}");
  const jobs = folder.write(
    "packages/worker/jobs.ts",
    `import { writeFileSync } from "node:fs";
    import { Task } from ${library};
    export class Touch extends Task { executeTask(path: string) { writeFileSync(path, this.taskId); } }`,
  );
  const publish = folder.write(
    "packages/web/publish.ts",
    `import { close } from ${library};
    import { Touch } from "../worker/jobs.ts";
    await Touch.enqueue(process.argv[2]);
    await close();`,
  );
  const inside = folder.write(
    "packages/web/inside.ts",
    `import { existsSync } from "node:fs";
    import { Conductor, close } from ${library};
    import { Touch } from "../worker/jobs.ts";
    const node = new Conductor({ require: [${JSON.stringify(jobs)}], concurrency: 2, logLevel: "error" });
    await node.start();
    await Touch.enqueue(process.argv[2]);
    while (!existsSync(process.argv[2])) await Bun.sleep(5);
    await node.stop();
    await close();`,
  );
  return { jobs, publish, inside, done: join(folder.path, "done") };
}

function environment(mode: string) {
  return { ...process.env, NODE_ENV: mode, SOLID_JOBS_URL: "", SOLID_JOBS_REDIS_URL: "", REDIS_URL: "" };
}

test("without any setting, a node runs what a publisher in another folder of the workspace publishes", async () => {
  using folder = temporaryFolder();
  const { jobs, publish, done } = workspace(folder);
  const env = environment("development");
  const cwd = (name: string) => join(folder.path, "packages", name);
  const published = Bun.spawnSync([process.execPath, publish, done], {
    cwd: cwd("web"),
    env,
    stderr: "inherit",
  });
  expect(published.exitCode).toBe(0);
  const node = Bun.spawn([process.execPath, command, "-r", jobs, "-c", "1"], {
    cwd: cwd("worker"),
    env,
    stdout: "pipe",
    stderr: "inherit",
  });
  await until(() => existsSync(done), { what: "the job to run" });
  node.kill("SIGTERM");
  expect(await node.exited).toBe(0);
  const store = `sqlite:${join(folder.path, ".solid-jobs", "jobs.sqlite")}`;
  expect(await node.stdout.text()).toContain(`"store":${JSON.stringify(store)}`);
}, 30_000);

test("with NODE_ENV=test a node's threads share the private file of their process", async () => {
  using folder = temporaryFolder();
  const { inside, done } = workspace(folder);
  const run = Bun.spawn([process.execPath, inside, done], {
    cwd: folder.path,
    env: { ...environment("test"), TMPDIR: folder.path },
    stderr: "inherit",
  });
  expect(await run.exited).toBe(0);
  expect(existsSync(done)).toBe(true);
  expect([...new Bun.Glob("**/*.sqlite*").scanSync({ cwd: folder.path, dot: true })]).toEqual([]);
}, 30_000);

test("in production publishers and nodes alike ask for a URL, and make no file", () => {
  using folder = temporaryFolder();
  const { jobs, publish, done } = workspace(folder);
  for (const args of [
    [publish, done],
    [command, "-r", jobs],
  ]) {
    const run = Bun.spawnSync([process.execPath, ...args], {
      cwd: folder.path,
      env: environment("production"),
    });
    expect(run.exitCode).toBe(1);
    expect(run.stderr.toString()).toMatch(
      /no store URL, which NODE_ENV=production requires: .*different files/,
    );
  }
  expect(existsSync(join(folder.path, ".solid-jobs"))).toBe(false);
});
