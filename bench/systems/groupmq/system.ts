import { join } from "node:path";
import { clientOnBun, installedVersion, missingPackage, onBun } from "../javascript.ts";
import { loopShapes } from "../shapes.ts";
import type { System } from "../system.ts";

const packageName = "groupmq";

/** One process without threads; its stalled check puts the jobs of a dead worker back. */
export const groupmq: System = {
  name: "groupmq",
  role: "peer",
  engine: "redis",
  keepsJobs: true,
  pace: 0.5,
  publishModes: ["single", "hundred", "bulk"],
  plans: true,
  absence: () => missingPackage(packageName),
  versions: () => ({
    groupmq: installedVersion(packageName) ?? "missing",
    ioredis: installedVersion("ioredis") ?? "missing",
  }),
  shapes: loopShapes,
  supports: () => true,
  worker: (url, { slots }) => ({ argv: onBun(join(import.meta.dir, "worker.ts"), url, slots) }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};
