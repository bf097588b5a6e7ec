import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type NodeGiven, nodeWork } from "./node-run.ts";

const counted = 6;

/**
 * How often a node calls the system for each of its calls of the cycle's script, the most frequent first. Needs
 * `strace`; without it there are none. Tracing slows the node down: jobs wait meanwhile, and calls carry more.
 */
export async function systemCalls(given: NodeGiven): Promise<readonly (readonly [string, number])[]> {
  if (Bun.which("strace") === null) return [];
  const folder = mkdtempSync(join(tmpdir(), "solid-jobs-strace-"));
  const file = join(folder, "counts");
  let tracer: Bun.Subprocess | undefined;
  try {
    const { before, after } = await nodeWork({
      ...given,
      async beforeJobs(node) {
        tracer = Bun.spawn(["strace", "-c", "-f", "-o", file, "-p", String(node.pid)], {
          stderr: "ignore",
        });
        await Bun.sleep(300);
      },
      async afterJobs() {
        tracer?.kill("SIGINT");
        await tracer?.exited;
      },
    });
    const calls = (after.commands.get("evalsha")?.calls ?? 0) - (before.commands.get("evalsha")?.calls ?? 0);
    return parsed(existsSync(file) ? readFileSync(file, "utf8") : "")
      .map(([name, count]) => [name, count / calls] as const)
      .slice(0, counted);
  } finally {
    tracer?.kill("SIGKILL");
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Of `strace -c`: columns of share, seconds, microseconds a call, calls, errors (may be empty) and name. */
function parsed(text: string): [string, number][] {
  const rows = [...text.matchAll(/^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)\s+(?:\d+\s+)?(\w+)$/gm)];
  return rows
    .map(([, calls, name]): [string, number] => [String(name), Number(calls)])
    .filter(([name]) => name !== "total")
    .sort((a, b) => b[1] - a[1]);
}
