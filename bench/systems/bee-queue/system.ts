import { join } from "node:path";
import { clientOnBun, missingPackage, onBun, packageVersion } from "../javascript.ts";
import { loopShapes } from "../shapes.ts";
import type { System } from "../system.ts";

const packageName = "bee-queue";

/** One process without threads. Its stalled check, which the worker runs, puts the jobs of a dead one back. */
export const beeQueue: System = {
  name: "bee-queue",
  role: "peer",
  engine: "redis",
  keepsJobs: true,
  pace: 1,
  publishModes: ["single", "hundred", "bulk"],
  plans: true,
  absence: () => missingPackage(packageName),
  versions: () => packageVersion(packageName),
  shapes: loopShapes,
  supports: () => true,
  worker: (url, { slots }) => ({ argv: onBun(join(import.meta.dir, "worker.ts"), url, slots) }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};
