import { join } from "node:path";
import type { System } from "../system.ts";

const program = join(import.meta.dir, "node.ts");

/** One process without threads: `workers` times `slots` is its concurrency. */
export const bunqueue: System = {
  name: "bunqueue",
  shapeText: ({ workers, slots }) => `concurrency ${workers * slots}`,
  nodeArguments: (url, { workers, slots }) => [program, url, String(workers * slots)],
};
