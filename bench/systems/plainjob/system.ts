import { join } from "node:path";
import { clientOnBun, missingPackage, onBun, packageVersion } from "../javascript.ts";
import type { System } from "../system.ts";

const packageName = "plainjob";
const mostProcesses = 10;

/** A worker of it takes one job at a time; its documentation advises several processes for more. */
export const plainjob: System = {
  name: "plainjob",
  role: "peer",
  engine: "sqlite",
  keepsJobs: true,
  pace: 1,
  publishModes: ["single", "hundred", "bulk"],
  plans: true,
  absence: () => missingPackage(packageName),
  versions: () => packageVersion(packageName),
  shapes: (concurrency) =>
    concurrency > mostProcesses
      ? []
      : [
          {
            ...{ workers: concurrency, slots: 1, variant: "" },
            text: `${concurrency} process${concurrency === 1 ? "" : "es"}`,
          },
        ],
  supports: () => true,
  worker: (url, { workers }) => ({ argv: onBun(join(import.meta.dir, "worker.ts"), url, workers) }),
  client: (url, task) => clientOnBun(import.meta.dir, url, task),
};
