/**
 * `npm test`, in the root of the repository: sets up what the tests need, runs them, and judges the run. Arguments go on to `bun test`
 * (`npm test -- test/config`, `npm test -- -t "a name"`). The last line is `N passed, N failed`, and the
 * exit status is 0 only when every test file ran, every test passed and no process was left behind.
 */
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { processesOf } from "./support/leftovers.ts";
import { ensureRedisServer } from "./support/redis-command.ts";
import { judge, summaryLine, type TestReport } from "./support/test-report.ts";

const root = process.cwd();

/** All test files, or those whose path contains one of the words asked for. */
function testFiles(words: readonly string[]): string[] {
  const all = [...new Bun.Glob("test/**/*.test.{ts,tsx}").scanSync({ cwd: root })].sort();
  const patterns = words.map((word) => word.replace(/^\.\//, ""));
  return patterns.length === 0 ? all : all.filter((file) => patterns.some((word) => file.includes(word)));
}

/** The developer's own settings must not reach the tests; their temporary files stay in one folder. */
function testEnvironment(folder: string): Record<string, string | undefined> {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith("SOLID_JOBS_") && name !== "REDIS_URL",
  );
  return { ...Object.fromEntries(own), TMPDIR: folder };
}

/** Copies a stream to ours as it comes and keeps it. */
async function pass(stream: ReadableStream<Uint8Array>, to: NodeJS.WriteStream): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  for await (const chunk of stream) {
    to.write(chunk);
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

async function run(args: readonly string[], folder: string): Promise<TestReport> {
  const junitPath = join(folder, "junit.xml");
  const flags = ["--parallel=2", "--timeout=60000"].filter((flag) => !isGiven(args, flag));
  const reporter = ["--reporter=junit", `--reporter-outfile=${junitPath}`];
  const colour = process.stderr.isTTY ? { FORCE_COLOR: "1" } : {};
  const tests = Bun.spawn([process.execPath, "test", ...flags, ...reporter, ...args], {
    cwd: root,
    env: { ...testEnvironment(folder), ...colour },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.on(signal, () => tests.kill(signal));
  const streams = Promise.all([pass(tests.stdout, process.stdout), pass(tests.stderr, process.stderr)]);
  const exitCode = await tests.exited;
  // Before the streams: what was left running may hold them open.
  const leftovers = endLeftovers(folder);
  const [, output] = await streams;
  const junit = existsSync(junitPath) ? readFileSync(junitPath, "utf8") : undefined;
  const isSelective = args.some((arg) => arg.startsWith("-"));
  const report = judge({ exitCode, output, junit, expectedFiles: isSelective ? undefined : testFiles(args) });
  return { ...report, problems: [...report.problems, ...leftovers] };
}

function isGiven(args: readonly string[], flag: string): boolean {
  return args.some((arg) => arg.split("=")[0] === flag.split("=")[0]);
}

/** Ends what the tests left running and tells of it. */
function endLeftovers(folder: string): string[] {
  return processesOf(folder).map(({ pid, command }) => {
    process.kill(pid, "SIGKILL");
    return `left running after the tests: ${command} (pid ${pid})`;
  });
}

try {
  ensureRedisServer();
} catch (error) {
  console.error(`npm test: ${(error as Error).message}`);
  process.exit(1);
}
const folder = mkdtempSync(join(tmpdir(), "solid-jobs-tests-"));
const report = await run(Bun.argv.slice(2), folder);
rmSync(folder, { recursive: true, force: true });
for (const name of report.skipped) console.log(`skipped: ${name}`);
for (const problem of report.problems) console.log(`problem: ${problem}`);
console.log(summaryLine(report));
process.exit(report.failed + report.problems.length === 0 ? 0 : 1);
