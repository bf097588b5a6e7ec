import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import packageFacts from "../../package.json" with { type: "json" };
import { type SettingRow, settingNames, settingsTable } from "../../src/config/table.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

const program = Bun.fileURLToPath(import.meta.resolve("../../bin/solid-jobs.ts"));

/** Runs the real program without any of the test run's own settings. */
async function solidJobs(args: readonly string[], { cwd, env = {} }: { cwd?: string; env?: object } = {}) {
  const run = Bun.spawn([process.execPath, program, ...args], {
    cwd: cwd ?? process.cwd(),
    env: { PATH: process.env.PATH ?? "", ...env },
    stdout: "pipe",
    stderr: "pipe",
  });
  const [status, stdout, stderr] = await Promise.all([
    run.exited,
    new Response(run.stdout).text(),
    new Response(run.stderr).text(),
  ]);
  return { status, stdout, stderr };
}

/** One clear line on standard error, nothing on standard output, status 1. */
async function expectRefusal(
  args: readonly string[],
  message: string,
  options?: { cwd?: string; env?: object },
) {
  expect(await solidJobs(args, options)).toEqual({
    status: 1,
    stdout: "",
    stderr: `solid-jobs: ${message}\n`,
  });
}

describe("solid-jobs --help", () => {
  test("shows each flag with its default, and two examples", async () => {
    const { status, stdout, stderr } = await solidJobs(["--help"]);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const text = stdout.replace(/\s+/g, " ");
    for (const name of settingNames) {
      const { flag, initialText }: SettingRow<unknown> = settingsTable[name];
      if (flag === undefined) continue;
      expect(text).toContain(flag);
      expect(text).toContain(`(default: ${initialText.replaceAll("`", "")})`);
    }
    expect(text).toContain("--redis-url <url>");
    expect(text).toContain("-C, --config <path>");
    expect(stdout.match(/^ +\$ solid-jobs -r /gm)).toHaveLength(2);
  });

  test("does not need a working environment", async () => {
    const env = { NODE_ENV: "production", SOLID_JOBS_SLOTS: "many" };
    expect((await solidJobs(["-h"], { env })).status).toBe(0);
  });
});

describe("solid-jobs --version", () => {
  test("prints the package's version", async () => {
    const expected = { status: 0, stdout: `${packageFacts.version}\n`, stderr: "" };
    expect(await solidJobs(["--version"])).toEqual(expected);
    expect(await solidJobs(["-V"])).toEqual(expected);
  });
});

describe("the command line", () => {
  test("refuses an unknown flag and names the nearest", async () => {
    await expectRefusal(
      ["--slot", "3"],
      "unknown option '--slot' (did you mean --slots?) (see solid-jobs --help)",
    );
    await expectRefusal(["--bananas"], "unknown option '--bananas' (see solid-jobs --help)");
  });

  test("refuses words that are no flags", async () => {
    await expectRefusal(
      ["jobs.ts"],
      'expected flags only, got "jobs.ts": modules are given with -r (see solid-jobs --help)',
    );
  });

  test("refuses a flag without its value", async () => {
    await expectRefusal(
      ["-c"],
      "option '-c, --concurrency <number>' argument missing (see solid-jobs --help)",
    );
  });

  test.each([
    [["-c", "0"], 'flag --concurrency: expected a whole number from 1 to 256, got "0"'],
    [["--slots=1.5"], 'flag --slots: expected a whole number from 1 to 1000, got "1.5"'],
    [["-t", "soon"], 'flag --timeout: expected a number from 0 to 3600 (seconds), got "soon"'],
    [["-t", "-1"], 'flag --timeout: expected a number from 0 to 3600 (seconds), got "-1"'],
    [
      ["--log-level", "wran"],
      'flag --log-level: expected one of debug, info, warn, error, silent, got "wran" (did you mean "warn"?)',
    ],
    [
      ["--channel", "a,2", "--channel", "b,0"],
      'flag --channel: the weight of channel "b" must be a whole number from 1 to 1000, got 0',
    ],
    [["--channel", "a", "--channel", "a"], 'flag --channel: the channel "a" is given twice: once is enough'],
    [["--channel", ""], "flag --channel: a channel's name must not be empty"],
    [
      ["--redis-url", "http://:secret@host"],
      'flag --redis-url: expected a URL that begins with redis://, rediss://, valkey://, valkeys://, redis+unix:// or redis+tls+unix://, got "http://:***@host"',
    ],
  ])("refuses %p", async (args, message) => {
    await expectRefusal(args, message);
  });

  test("refuses to run without modules", async () => {
    await expectRefusal(
      [],
      "no modules with tasks: give them with -r ./jobs.ts, SOLID_JOBS_REQUIRE, or require in the config file",
    );
  });

  test("refuses a path that matches nothing, by its absolute name", async () => {
    using folder = temporaryFolder();
    folder.write("jobs.ts", "throw new Error('must not be loaded')");
    await expectRefusal(
      ["-r", "jobs.ts", "gone.ts"],
      `flag --require: nothing found at ${join(folder.path, "gone.ts")}: check the path`,
      { cwd: folder.path },
    );
  });

  test("refuses to run in production without a store URL", async () => {
    using folder = temporaryFolder();
    folder.write("jobs.ts");
    const env = { NODE_ENV: "production" };
    const { status, stdout, stderr } = await solidJobs(["-r", "jobs.ts"], { cwd: folder.path, env });
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^solid-jobs: no store URL, which NODE_ENV=production requires: .*\n$/);
  });

  test("refuses a bad value in the environment", async () => {
    await expectRefusal(
      [],
      'environment SOLID_JOBS_SLOTS: expected a whole number from 1 to 1000, got "many"',
      { env: { SOLID_JOBS_SLOTS: "many" } },
    );
  });
});

describe("a config file given by -C", () => {
  test.each([
    ["c.toml", "slost = 3\n", ': unknown key "slost" (did you mean "slots"?)'],
    ["c.json", '{"slots": "3"}', ', key slots: expected a whole number from 1 to 1000, got "3"'],
    ["c.json", "{", " is not valid JSON: Expected '}'"],
    ["c.yaml", "", ": expected a name that ends in .toml or .json"],
  ])("%s that holds %p is refused", async (name, content, problem) => {
    using folder = temporaryFolder();
    folder.write(name, content);
    await expectRefusal(["-C", name], `config file ${join(folder.path, name)}${problem}`, {
      cwd: folder.path,
    });
  });

  test("that is not valid TOML is refused with the line", async () => {
    using folder = temporaryFolder();
    folder.write("c.toml", "slots = 2\ntimeout = = 3\n");
    const { status, stderr } = await solidJobs(["-C", "c.toml"], { cwd: folder.path });
    expect(status).toBe(1);
    expect(stderr).toMatch(/^solid-jobs: config file .*c\.toml is not valid TOML: .* row 2, col \d+\n$/);
  });

  test("that does not exist is refused", async () => {
    using folder = temporaryFolder();
    await expectRefusal(
      ["-C", "gone.toml"],
      `config file ${join(folder.path, "gone.toml")} cannot be read: there is no such file`,
      { cwd: folder.path },
    );
  });
});
