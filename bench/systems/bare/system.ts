import { join } from "node:path";
import { clientOnBun, onBun } from "../javascript.ts";
import { threadShapes } from "../shapes.ts";
import type { System } from "../system.ts";

/** The ideal of the machine: the same loop in plain Web Workers that count up, without a queue. */
export const bare: System = {
  name: "bare",
  role: "yardstick",
  engine: "none",
  keepsJobs: false,
  pace: 1,
  publishModes: [],
  plans: false,
  absence: () => undefined,
  versions: () => ({}),
  shapes: threadShapes,
  // Without work there is nothing to compare: it would count tens of millions a second.
  supports: (workload) => workload !== "noop",
  worker: (url, { workers, slots }) => ({
    argv: onBun(join(import.meta.dir, "worker.ts"), url, workers, slots),
  }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};
