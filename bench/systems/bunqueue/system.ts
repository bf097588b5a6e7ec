import { join } from "node:path";
import { clientOnBun, missingPackage, onBun, packageVersion } from "../javascript.ts";
import { loopShapes } from "../shapes.ts";
import type { System } from "../system.ts";

const packageName = "bunqueue";

/** One process without threads. It reads its SQLite file as it starts and keeps its queue in memory. */
export const bunqueue: System = {
  name: "bunqueue",
  role: "peer",
  engine: "sqlite",
  keepsJobs: true,
  pace: 0.3,
  publishModes: ["single", "hundred", "bulk"],
  plans: true,
  isAlone: true,
  absence: () => missingPackage(packageName),
  versions: () => packageVersion(packageName),
  shapes: loopShapes,
  supports: () => true,
  worker: (url, { slots }) => ({ argv: onBun(join(import.meta.dir, "worker.ts"), url, slots) }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};
