import { join } from "node:path";
import packageJson from "../../../package.json";
import { clientOnBun, onBun } from "../javascript.ts";
import { threadShapes } from "../shapes.ts";
import type { System } from "../system.ts";

const program = join(import.meta.dir, "..", "..", "..", "bin", "solid-jobs.ts");
const tasks = join(import.meta.dir, "tasks.ts");

/** The command line program, as its users start it. */
export const solidJobs: System = {
  name: "solid-jobs",
  role: "ours",
  engine: "redis",
  keepsJobs: true,
  pace: 5,
  publishModes: ["single", "hundred", "bulk"],
  plans: true,
  absence: () => undefined,
  versions: () => ({ "solid-jobs": packageJson.version }),
  shapes: threadShapes,
  supports: () => true,
  worker: (url, { workers, slots }) => ({
    argv: onBun(program, "-r", tasks, "--url", url, "-c", workers, "-s", slots, "-t", 5),
  }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};

export const solidJobsEmbedded: System = {
  ...solidJobs,
  name: "solid-jobs-embedded",
  engine: "sqlite",
  pace: 3,
};
