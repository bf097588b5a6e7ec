import { join } from "node:path";
import { WorkerProcess } from "../method/worker-process.ts";

const program = join(import.meta.dir, "..", "..", "bin", "solid-jobs.ts");
const jobs = join(import.meta.dir, "jobs.ts");

export interface NodeOptions {
  readonly workers: number;
  readonly slots: number;
  /** `default` alone without them. */
  readonly channels?: readonly string[];
}

/** Starts a node of solid-jobs in a process of its own, as its users do. It may not be ready yet. */
export function startNode(
  { workers, slots, channels = ["default"] }: NodeOptions,
  { url, folder, env }: { url: string; folder: string; env: Record<string, string> },
): WorkerProcess {
  const served = channels.flatMap((channel) => ["--channel", channel]);
  const shape = { workers, slots, variant: "", text: `${workers} x ${slots}` };
  const options = ["-r", jobs, "--url", url, "-c", String(workers), "-s", String(slots), "-t", "5"];
  const command = { argv: [process.execPath, program, ...options, ...served] };
  return new WorkerProcess({ command, shape, folder, env });
}
