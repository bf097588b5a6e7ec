import { join } from "node:path";
import { clientOnBun, onBun } from "../javascript.ts";
import { loopShapes } from "../shapes.ts";
import type { System } from "../system.ts";

/** The round trip of the machine: Bun's client sends PING, one after the other, and each counts as a job. */
export const ping: System = {
  name: "ping",
  role: "yardstick",
  engine: "redis",
  keepsJobs: false,
  pace: 2,
  publishModes: [],
  plans: false,
  absence: () => undefined,
  versions: () => ({}),
  shapes: (concurrency) =>
    concurrency === 1 ? loopShapes(1).map((shape) => ({ ...shape, text: "serial PING" })) : [],
  supports: (workload) => workload === "noop",
  worker: (url) => ({ argv: onBun(join(import.meta.dir, "worker.ts"), url) }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};
