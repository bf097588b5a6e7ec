import { join } from "node:path";
import type { System } from "../system.ts";

const program = join(import.meta.dir, "node.ts");

/** Its workers take one job at a time, each in a process of its own: slots have no counterpart. */
export const plainjob: System = {
  name: "plainjob",
  shapeText: ({ workers }) => `${workers} process${workers === 1 ? "" : "es"}`,
  nodeArguments: (url, { workers }) => [program, url, String(workers)],
};
