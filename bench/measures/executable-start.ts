import { join } from "node:path";
import type { FileStage } from "../support/file-stage.ts";
import { spread, summaryOf } from "../support/statistics.ts";
import type { Measure } from "./measure.ts";

const starts = 15;
const workers = 2;
const targetMs = 150;
const giveUpMs = 30_000;
const root = join(import.meta.dir, "..", "..");
const program = join(root, "examples", "executable", "main.ts");
// As docs/executable.md has it.
const flags = ["--compile", "--minify", "--bytecode", "--format=esm"];
/** What the job that is first in the queue logs as it ends, well under a millisecond after its beginning. */
const firstLine = "counted primes";

/** From the start of the process of `examples/executable` until its first job has begun. */
export const executableStart: Measure<FileStage> = {
  name: "executable",
  run: (stage, _knobs, log) =>
    stage.inFolder(async (folder) => {
      const app = join(folder, "app");
      await finished([process.execPath, "build", ...flags, program, "--outfile", app], process.env);
      const ms: number[] = [];
      for (let i = 0; i < starts; i++) ms.push(await started(app, join(folder, `${i}.sqlite`)));
      const summary = summaryOf(ms);
      const reached = `${spread(summary)} ms`;
      log(`first job begun after ${reached}`);
      const row = {
        what: `an executable's first job after its start, ${workers} workers, ${starts} starts`,
        reached,
        target: `within ${targetMs} ms`,
        isReached: summary.median <= targetMs,
      };
      return { rows: [row], data: { ms } };
    }),
};

async function started(app: string, file: string): Promise<number> {
  const env = { PATH: process.env["PATH"], NODE_ENV: "production", SOLID_JOBS_URL: `sqlite:${file}` };
  await finished([app, "publish"], env);
  const startMs = performance.now();
  const node = Bun.spawn([app, "-c", String(workers)], {
    ...{ env, stdin: "ignore", stdout: "pipe", stderr: "pipe" },
  });
  const late = setTimeout(() => node.kill("SIGKILL"), giveUpMs);
  try {
    const ms = await Promise.any([node.stdout, node.stderr].map((stream) => seen(stream, startMs)));
    node.kill("SIGTERM");
    if ((await node.exited) !== 0) throw new Error(`an executable ended with status ${node.exitCode}`);
    return ms;
  } finally {
    clearTimeout(late);
    node.kill("SIGKILL");
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

async function finished(command: string[], env: Record<string, string | undefined>): Promise<void> {
  const child = Bun.spawn(command, { cwd: root, env, stdin: "ignore", stdout: "ignore", stderr: "pipe" });
  const [text, status] = await Promise.all([child.stderr.text(), child.exited]);
  if (status !== 0) throw new Error(`${command.slice(0, 2).join(" ")} ended with status ${status}: ${text}`);
}
