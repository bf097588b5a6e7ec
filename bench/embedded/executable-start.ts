import { join } from "node:path";
import type { Bench } from "../method/bench.ts";
import { cleanEnvironment, killGroup, noteGroup } from "../method/processes.ts";
import { inTemporaryFolder } from "../method/temporary-folder.ts";

const workers = 2;
const giveUpMs = 30_000;
const root = join(import.meta.dir, "..", "..");
const program = join(root, "examples", "executable", "main.ts");
// As docs/executable.md has it.
const flags = ["--compile", "--minify", "--bytecode", "--format=esm"];
/** What the job that is first in the queue logs as it ends, well under a millisecond after its beginning. */
const firstLine = "counted primes";

/** From the start of the process of `examples/executable` until its first job has begun. */
export async function recordExecutableStarts(bench: Bench, part: string, starts: number): Promise<void> {
  bench.expect(starts);
  await inTemporaryFolder(async (folder) => {
    const app = join(folder, "app");
    await finished([process.execPath, "build", ...flags, program, "--outfile", app]);
    for (let repetition = 1; repetition <= starts; repetition++) {
      const outcome = await attempted(app, join(folder, `${repetition}.sqlite`));
      bench.record({
        ...{ part, workload: "executable's start", system: "solid-jobs-embedded", variant: "executable" },
        ...{ shape: `executable, ${workers} x 1`, workers, concurrency: workers, jobs: 1, repetition },
        ...{ counts: undefined, ...outcome },
      });
    }
  });
}

async function attempted(app: string, file: string) {
  try {
    return { problem: undefined, metrics: { firstJobMs: await started(app, file) } };
  } catch (error) {
    return { problem: (error as Error).message, metrics: {} };
  }
}

async function started(app: string, file: string): Promise<number> {
  const env = { ...cleanEnvironment(), SOLID_JOBS_URL: `sqlite:${file}` };
  await finished([app, "publish"], env);
  const startMs = performance.now();
  const node = Bun.spawn([app, "-c", String(workers)], {
    ...{ env, stdin: "ignore", stdout: "pipe", stderr: "pipe", detached: true },
  });
  noteGroup(node.pid);
  const late = setTimeout(() => killGroup(node.pid), giveUpMs);
  try {
    const ms = await Promise.any([node.stdout, node.stderr].map((stream) => seen(stream, startMs)));
    node.kill("SIGTERM");
    if ((await node.exited) !== 0) throw new Error(`an executable ended with status ${node.exitCode}`);
    return ms;
  } finally {
    clearTimeout(late);
    killGroup(node.pid);
  }
}

/** Reads to the end, and tells when the first job's line came. @throws Error when it did not */
async function seen(stream: ReadableStream<Uint8Array>, startMs: number): Promise<number> {
  const decoder = new TextDecoder();
  let said = "";
  for await (const bytes of stream) {
    said += decoder.decode(bytes, { stream: true });
    if (said.includes(firstLine)) return performance.now() - startMs;
  }
  throw new Error(`an executable ended before its first job did; it said: ${said}`);
}

async function finished(command: string[], env: Record<string, string> = cleanEnvironment()): Promise<void> {
  const child = Bun.spawn(command, { cwd: root, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [text, status] = await Promise.all([child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(`${command.slice(0, 2).join(" ")} ended with status ${status}: ${text}`);
}
