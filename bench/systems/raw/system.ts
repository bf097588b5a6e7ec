import { join } from "node:path";
import { clientOnBun, onBun } from "../javascript.ts";
import { loopShapes } from "../shapes.ts";
import type { System } from "../system.ts";

/**
 * The yardstick of SQLite on this machine: one thread that takes some jobs and deletes those before in one
 * transaction, again and again. No claims, no fence, no tasks, no settling of failures.
 */
export const raw: System = {
  name: "raw-sqlite",
  role: "yardstick",
  engine: "sqlite",
  keepsJobs: false,
  pace: 5,
  publishModes: ["single", "bulk"],
  plans: false,
  absence: () => undefined,
  versions: () => ({}),
  shapes: (concurrency) =>
    loopShapes(concurrency).map((shape) => ({ ...shape, text: `${concurrency} a transaction` })),
  supports: (workload) => workload === "noop",
  worker: (url, { slots }) => ({ argv: onBun(join(import.meta.dir, "worker.ts"), url, slots) }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};
