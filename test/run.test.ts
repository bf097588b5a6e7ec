import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";

const runner = join(import.meta.dir, "run.ts");
const passing = `import { test } from "bun:test"; test("passes", () => {});`;

interface Outcome {
  readonly exitCode: number;
  readonly lines: readonly string[];
  readonly lastLine: string | undefined;
}

/** Runs the runner in a project of these test files. */
async function runTests(files: Record<string, string>, ...args: string[]): Promise<Outcome> {
  const project = mkdtempSync(join(tmpdir(), "run-"));
  for (const [name, source] of Object.entries(files)) {
    mkdirSync(dirname(join(project, "test", name)), { recursive: true });
    await Bun.write(join(project, "test", name), source);
  }
  const outcome = await spawnRunner(project, process.env, args);
  rmSync(project, { recursive: true });
  return outcome;
}

async function spawnRunner(
  cwd: string,
  env: Record<string, string | undefined>,
  args: readonly string[],
): Promise<Outcome> {
  const run = Bun.spawn([process.execPath, runner, ...args], { cwd, env, stdout: "pipe", stderr: "pipe" });
  const [stdout, stderr, exitCode] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  const lines = [...stderr.split("\n"), ...stdout.trimEnd().split("\n")];
  return { exitCode, lines, lastLine: lines.at(-1) };
}

describe("npm test", () => {
  test("ends with the counts when all is well", async () => {
    const { exitCode, lastLine } = await runTests({ "a.test.ts": passing, "b/c.test.ts": passing });
    expect({ exitCode, lastLine }).toEqual({ exitCode: 0, lastLine: "2 passed, 0 failed" });
  });

  test("runs only the files whose path contains an argument", async () => {
    const { exitCode, lastLine } = await runTests({ "a.test.ts": passing, "b/c.test.ts": passing }, "test/b");
    expect({ exitCode, lastLine }).toEqual({ exitCode: 0, lastLine: "1 passed, 0 failed" });
  });

  test("passes flags on to bun test", async () => {
    const two = `import { test } from "bun:test"; test("one", () => {}); test("two", () => {});`;
    const { exitCode, lastLine } = await runTests({ "a.test.ts": two }, "-t", "two");
    expect({ exitCode, lastLine }).toEqual({ exitCode: 0, lastLine: "1 passed, 0 failed" });
  });

  test("fails with a failing test", async () => {
    const failing = `import { expect, test } from "bun:test"; test("fails", () => expect(1).toBe(2));`;
    const { exitCode, lastLine } = await runTests({ "a.test.ts": passing, "b.test.ts": failing });
    expect({ exitCode, lastLine }).toEqual({ exitCode: 1, lastLine: "1 passed, 1 failed" });
  });

  test("fails when a test ends its process with status 0", async () => {
    const exiting = `import { test } from "bun:test"; test("exits", () => process.exit(0));`;
    const outcome = await runTests({ "a.test.ts": passing, "b.test.ts": exiting });
    expect({ exitCode: outcome.exitCode, lastLine: outcome.lastLine }).toEqual({
      exitCode: 1,
      lastLine: "1 passed, 1 failed",
    });
  });

  test("fails when the whole run ends with status 0 and no summary", async () => {
    const exiting = `import { test } from "bun:test"; test("exits", () => process.exit(0));`;
    const { exitCode, lines } = await runTests({ "b.test.ts": exiting }, "--no-isolate");
    expect(exitCode).toBe(1);
    expect(lines).toContainEqual(expect.stringMatching(/^\d+ passed, [1-9]\d* failed$/));
  });

  test("fails when a file has no tests", async () => {
    const { exitCode, lines, lastLine } = await runTests({
      "a.test.ts": passing,
      "empty.test.ts": "export {};",
    });
    expect({ exitCode, lastLine }).toEqual({ exitCode: 1, lastLine: "1 passed, 1 failed" });
    expect(lines).toContain("problem: test/empty.test.ts ran no test");
  });

  test("fails when a module throws as it loads", async () => {
    const { exitCode } = await runTests({ "a.test.ts": passing, "b.test.ts": `throw new Error("at load");` });
    expect(exitCode).toBe(1);
  });

  test("lists skipped tests with their reason, and refuses one without", async () => {
    const skips = (name: string) => `import { test } from "bun:test"; test.skip("${name}", () => {});`;
    const reasoned = await runTests({ "a.test.ts": passing, "b.test.ts": skips("b [skipped: needs root]") });
    expect(reasoned.exitCode).toBe(0);
    expect(reasoned.lines).toContain("skipped: b [skipped: needs root]");
    expect(reasoned.lastLine).toBe("1 passed, 0 failed, 1 skipped");
    const silent = await runTests({ "a.test.ts": passing, "b.test.ts": skips("b") });
    expect(silent.exitCode).toBe(1);
    expect(silent.lastLine).toBe("1 passed, 1 failed, 1 skipped");
  });

  test("ends a process that a test left running, and fails", async () => {
    const leaving = `import { test } from "bun:test"; test("leaves", () => { Bun.spawn(["sleep", "600"]).unref(); });`;
    const { exitCode, lines } = await runTests({ "a.test.ts": leaving });
    expect(exitCode).toBe(1);
    const told = lines.find((line) => line.startsWith("problem: left running after the tests: sleep 600"));
    const pid = Number(/pid (\d+)/.exec(told ?? "")?.[1]);
    expect(pid).toBeGreaterThan(1);
    // Gone, or a zombie that nobody has collected yet.
    expect(Bun.spawnSync(["ps", "-o", "stat=", "-p", String(pid)]).stdout.toString()).toMatch(/^(?:Z.*\n)?$/);
  });

  test("keeps the developer's own settings from the tests", async () => {
    const project = mkdtempSync(join(tmpdir(), "run-"));
    const source = `import { expect, test } from "bun:test";
      test("sees none", () => expect([process.env.REDIS_URL, process.env.SOLID_JOBS_URL]).toEqual([undefined, undefined]));`;
    await Bun.write(join(project, "test", "a.test.ts"), source);
    const env = { ...process.env, REDIS_URL: "redis://localhost", SOLID_JOBS_URL: "redis://localhost" };
    const { lastLine } = await spawnRunner(project, env, []);
    rmSync(project, { recursive: true });
    expect(lastLine).toBe("1 passed, 0 failed");
  });

  test("says what to install when there is no redis-server and none may be installed", async () => {
    const empty = mkdtempSync(join(tmpdir(), "path-"));
    const { exitCode, lines } = await spawnRunner(empty, { ...process.env, PATH: empty }, []);
    rmSync(empty, { recursive: true });
    expect(exitCode).toBe(1);
    expect(lines.join("\n")).toContain("redis-server is not on PATH. Install Redis 6.2 or later");
  });
});
