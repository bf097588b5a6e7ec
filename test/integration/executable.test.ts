import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import packageJson from "../../package.json" with { type: "json" };
import { ExecutableSite, main, tasks } from "../support/executable-site.ts";
import { NodeProcess } from "../support/node-process.ts";
import { RedisServer } from "../support/redis-server.ts";
import { until } from "../support/until.ts";

const root = join(import.meta.dir, "..", "..");
const buildMs = 60_000;

const variants = {
  plain: [],
  minified: ["--minify"],
  bytecode: ["--bytecode", "--format=esm"],
  "minified bytecode": ["--minify", "--bytecode", "--format=esm"],
};

let site: ExecutableSite;
let server: RedisServer;
let count = 0;
beforeAll(async () => {
  site = new ExecutableSite();
  server = await RedisServer.start();
  await site.build(site.source("main.ts", main), "app");
}, buildMs);
afterAll(async () => {
  await server?.stop();
  site?.remove();
});

/** A store that nobody used yet. */
const engines = {
  embedded: () => ({ SOLID_JOBS_URL: `sqlite:${site.path(`jobs-${count++}.sqlite`)}` }),
  redis: () => ({ SOLID_JOBS_URL: server.url, SOLID_JOBS_PREFIX: `executable-${count++}:` }),
};
const engineNames = Object.keys(engines) as (keyof typeof engines)[];

/** What was written so far; a line without its end is none yet. */
const lines = (file: string) => (existsSync(file) ? readFileSync(file, "utf8").split("\n").slice(0, -1) : []);

interface Subject {
  readonly executable: string;
  /** What makes it a node with the tasks. */
  readonly args: readonly string[];
}

async function publish(app: string, task: "mark" | "hold", env: Record<string, string>): Promise<string> {
  const file = site.path(`job-${count++}`);
  expect(await site.run([app, "publish", task, file], env)).toEqual({ status: 0, stdout: "", stderr: "" });
  return file;
}

function startNode({ executable, args }: Subject, env: Record<string, string>, flags: string[] = []) {
  return new NodeProcess({ executable, args: [...args, "-c", "2", ...flags], cwd: site.folder, env });
}

/** The behaviour that both kinds of executables share. */
function behavesAsANode(subject: () => Subject, app: () => string): void {
  test.each(engineNames)("begins its first job soon after it was started, on %s", async (engine) => {
    const env = engines[engine]();
    const file = await publish(app(), "mark", env);
    const startedMs = performance.timeOrigin + performance.now();
    const node = startNode(subject(), env);
    await until(() => lines(file).length === 1);
    const ms = Math.round(Number(lines(file)[0]) - startedMs);
    console.log(`first job ${ms} ms after the start (target: 150 ms), ${engine}`);
    await node.started();
    expect({ status: await node.stop(), stray: node.stray }).toEqual({ status: 0, stray: [] });
  });

  test.each(engineNames)(
    "leaves a job that another start runs again when it is killed, on %s",
    async (engine) => {
      const env = engines[engine]();
      const file = await publish(app(), "hold", env);
      const killed = startNode(subject(), env);
      await until(() => lines(file).length === 1);
      await killed.kill();
      const next = startNode(subject(), env);
      await until(() => lines(file).length === 2);
      site.write(`${file.slice(site.folder.length + 1)}.release`, "");
      await until(() => lines(file).length === 3);
      expect(lines(file)).toEqual([`begun ${killed.pid}`, `begun ${next.pid}`, `done ${next.pid}`]);
      await next.until("recovered a dead node");
      expect(await next.stop()).toBe(0);
    },
  );

  test.each(engineNames)(
    "puts a job back that does not end when it is told to stop, on %s",
    async (engine) => {
      const env = engines[engine]();
      const file = await publish(app(), "hold", env);
      const stopped = startNode(subject(), env, ["-t", "0"]);
      await until(() => lines(file).length === 1);
      await stopped.started();
      expect(await stopped.stop()).toBe(0);
      await stopped.until("put back 1 jobs");
      const next = startNode(subject(), env);
      await until(() => lines(file).length === 2);
      site.write(`${file.slice(site.folder.length + 1)}.release`, "");
      await until(() => lines(file).length === 3);
      expect(await next.stop()).toBe(0);
    },
  );
}

describe.each(Object.entries(variants))("an application's own executable, %s", (variant, flags) => {
  const app = () => site.path(`app-${variant.replace(" ", "-")}`);

  beforeAll(async () => {
    await site.build(site.source("main.ts", main), `app-${variant.replace(" ", "-")}`, flags);
  }, buildMs);

  behavesAsANode(() => ({ executable: app(), args: [] }), app);

  test("holds the scripts of Redis and the statements of SQLite", async () => {
    const binary = Buffer.from(await Bun.file(app()).arrayBuffer());
    const script = readFileSync(join(root, "lua", "cycle.lua"), "utf8").split("\n");
    const longest = script.toSorted((one, other) => other.length - one.length)[0]!.trim();
    expect(longest.length).toBeGreaterThan(40);
    expect(binary.includes(longest.replaceAll("`", "\\`"))).toBe(true);
    expect(binary.includes("CREATE TABLE jobs (")).toBe(true);
  });
});

describe("an application's own executable", () => {
  const app = () => site.path("app");

  test("has the flags of the CLI but for modules", async () => {
    const { status, stdout, stderr } = await site.run([app(), "--help"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    expect(stdout).toStartWith("Usage: app [options]\n");
    expect(stdout).toContain("--concurrency");
    expect(stdout).not.toMatch(/--require|--watch/);
    expect((await site.run([app(), "--version"])).stdout).toBe(`${packageJson.version}\n`);
  });

  test.each([
    [["-r", "./gone.ts"], {}, "this program has its tasks inside: expected no modules, got some from -r"],
    [["--watch"], {}, "this program has its tasks inside: expected no --watch"],
    [[], { SOLID_JOBS_WATCH: "true" }, "this program has its tasks inside: expected no --watch"],
    [["--slot", "2"], {}, "unknown option '--slot' (did you mean --slots?) (see app --help)"],
    [["work"], {}, 'expected flags only, got "work": see app --help'],
    [["-s", "0"], {}, 'flag --slots: expected a whole number from 1 to 1000, got "0"'],
    [[], { NODE_ENV: "production" }, "no store URL, which NODE_ENV=production requires"],
  ])("refuses %j with %j", async (args, env, message) => {
    const { status, stdout, stderr } = await site.run([app(), ...args], env);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toStartWith(`app: ${message}`);
    expect(stderr.trimEnd()).not.toContain("\n");
  });

  test("runs uncompiled as well", async () => {
    const env = engines.embedded();
    const file = await publish(app(), "mark", env);
    const program = site.source("main.ts", main);
    const node = new NodeProcess({ program, args: ["-c", "1"], cwd: site.folder, env });
    await until(() => lines(file).length === 1);
    await node.started();
    expect(await node.stop()).toBe(0);
  });

  test("refuses a task without options.name", async () => {
    const program = site.source(
      "unnamed.ts",
      `import { run, Task } from "solid-jobs";
       class Unnamed extends Task { executeTask() {} }
       await run({ tasks: [Unnamed] });`,
    );
    const { status, stderr } = await site.run([await site.build(program, "unnamed")], engines.embedded());
    expect(status).toBe(1);
    expect(stderr).toMatch(/^unnamed: the task class Unnamed needs options\.name: .*\n$/);
  });
});

describe("a main file whose threads do not come to run", () => {
  const rule =
    /each thread of a node runs the main file again, up to run\(\.\.\.\): .*Bun\.isMainThread.*\n$/;

  test.each([
    [
      "ends",
      "if (Bun.isMainThread) await run({ tasks: [A] });",
      "a thread ended, with code 0, before it reached",
    ],
    [
      "serves",
      "Bun.serve({ port: 0, fetch: () => new Response() }); await run({ tasks: [A] });",
      "a thread failed before it reached run(...): Bun.serve was called",
    ],
    [
      "throws",
      "if (!Bun.isMainThread) throw new TypeError('no'); await run({ tasks: [A] });",
      "a thread failed before it reached run(...): TypeError: no",
    ],
  ])("because it %s fails the start with the rule", async (name, body, problem) => {
    const program = site.source(
      `${name}.ts`,
      `import { run, Task } from "solid-jobs";
       class A extends Task { static options = { name: "a" }; executeTask() {} }
       ${body}`,
    );
    const executable = await site.build(program, name, ["--minify"]);
    for (const command of [[executable], [process.execPath, program]]) {
      const { status, stdout, stderr } = await site.run(command, engines.embedded());
      expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
      expect(stderr).toContain(`: ${problem}`);
      expect(stderr).toMatch(rule);
    }
  });
});

describe("the example", () => {
  test("publishes and runs its jobs as its head says", async () => {
    const app = await site.build(
      join(root, "examples", "executable", "main.ts"),
      "example",
      variants.minified,
    );
    const env = engines.embedded();
    expect(await site.run([app, "publish"], env)).toMatchObject({ status: 0, stdout: "published 5 jobs\n" });
    const node = startNode({ executable: app, args: [] }, env, ["-s", "2"]);
    await until(() => node.count("counted primes") === 3 && node.count("slept") === 2);
    expect(node.log).toContainEqual(expect.objectContaining({ limit: 1_000_000, primes: 78_498 }));
    expect(await node.stop()).toBe(0);
  });
});

describe("the compiled command", () => {
  let command: string;
  beforeAll(async () => {
    const [, flags] = /--compile (.*) bin\/solid-jobs\.ts/.exec(packageJson.scripts["build:cli"]) ?? [];
    command = await site.build(join(root, "bin", "solid-jobs.ts"), "solid-jobs", flags!.split(" "));
    site.write("jobs/tasks.ts", tasks);
  }, buildMs);

  behavesAsANode(
    () => ({ executable: command, args: ["-r", "jobs/tasks.ts"] }),
    () => site.path("app"),
  );

  const jobs = `
    import { writeFileSync } from "node:fs";
    import { Task } from "solid-jobs";
    import { lab } from "solid-jobs/lab";
    import { word } from "@words/word";
    export class Unnamed extends Task {
      async executeTask(file: string) {
        await Followed.enqueue(file + ".followed");
        writeFileSync(file, word + " " + typeof lab.testing);
      }
    }
    export class Followed extends Task {
      executeTask(file: string) { writeFileSync(file, this.envelope.task); }
    }`;

  test.each([
    ["without an installed solid-jobs", false],
    ["with another solid-jobs installed", true],
  ])("gives modules its own copy and the paths of their tsconfig, %s", async (_, isInstalled) => {
    const folder = isInstalled ? "installed" : "bare";
    const paths = { compilerOptions: { paths: { "@words/*": ["./words/*"] } } };
    site.write(`${folder}/tsconfig.json`, JSON.stringify(paths));
    site.write(`${folder}/words/word.ts`, 'export const word: string = "by path";');
    const module = site.write(`${folder}/jobs.ts`, jobs);
    if (isInstalled) {
      const place = `${folder}/node_modules/solid-jobs`;
      const exports = { ".": "./index.js", "./lab": "./index.js" };
      site.write(`${place}/package.json`, JSON.stringify({ name: "solid-jobs", exports }));
      site.write(`${place}/index.js`, 'throw new Error("the installed copy was loaded");');
    }
    const env = engines.embedded();
    const publisher = site.source(
      "publish-unnamed.ts",
      `import { close, Task } from "solid-jobs";
       class Unnamed extends Task { executeTask(_file: string) {} }
       await Unnamed.enqueue(process.argv[2]!);
       await close();`,
    );
    const file = site.path(`unnamed-${folder}`);
    expect((await site.run([process.execPath, publisher, file], env)).status).toBe(0);
    const node = startNode({ executable: command, args: ["-r", module] }, env);
    const hasText = (path: string) => existsSync(path) && readFileSync(path, "utf8") !== "";
    await until(() => hasText(`${file}.followed`) && hasText(file));
    await node.started();
    expect(readFileSync(file, "utf8")).toBe("by path function");
    expect(readFileSync(`${file}.followed`, "utf8")).toBe("Followed");
    expect(await node.stop()).toBe(0);
  });

  test("says in one line why a module does not load", async () => {
    const module = site.write("broken/jobs.ts", 'import { nothing } from "not-installed";\nnothing();');
    const { status, stdout, stderr } = await site.run([command, "-r", module], engines.embedded());
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^solid-jobs: .*broken\/jobs\.ts does not load: .*not-installed.*\n$/);
  });

  test("prints the package's version", async () => {
    expect((await site.run([command, "--version"])).stdout).toBe(`${packageJson.version}\n`);
  });
});
