import { join } from "node:path";
import type { System } from "../system.ts";

const program = join(import.meta.dir, "node.ts");

/**
 * The yardstick of the machine: one thread that takes `slots` jobs and deletes those before in one
 * transaction, again and again. No claims, no fence, no tasks, no settling of failures.
 */
export const raw: System = {
  name: "raw",
  shapeText: ({ slots }) => `loop of ${slots} a transaction`,
  nodeArguments: (url, { slots }) => [program, url, String(slots)],
};
