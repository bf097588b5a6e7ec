import { join } from "node:path";
import type { System } from "../system.ts";

const program = join(import.meta.dir, "..", "..", "..", "bin", "solid-jobs.ts");
const tasks = join(import.meta.dir, "tasks.ts");

/** The command line program, as its users start it. */
export const solidJobs: System = {
  name: "solid-jobs",
  shapeText: ({ workers, slots }) => `${workers} worker${workers === 1 ? "" : "s"} x ${slots}`,
  nodeArguments: (url, { workers, slots }) => [
    program,
    ...["-r", tasks, "--url", url, "-c", String(workers), "-s", String(slots), "-t", "5"],
  ],
};
