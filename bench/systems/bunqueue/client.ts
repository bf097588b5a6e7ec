import { Queue, shutdownManager } from "bunqueue/client";
import { pathOf } from "../path-of.ts";
import type { Client } from "../system.ts";
import { queueName } from "./queue.ts";

// Like the others, it keeps nothing of a job that is done.
const options = { removeOnComplete: true };

export function openClient(url: string): Client {
  const queue = new Queue<{ index: number }>(queueName, { embedded: true, dataPath: pathOf(url) });
  return {
    publishMany: (from, to) =>
      queue.addBulk(
        Array.from({ length: to - from }, (_, i) => ({
          name: "mark",
          data: { index: from + i },
          opts: options,
        })),
      ),
    publish: (index) => queue.add("mark", { index }, options),
    publishAt: (index, dueMs) =>
      queue.add("mark", { index }, { ...options, delay: Math.max(0, dueMs - Date.now()) }),
    async close() {
      await queue.close();
      // Writes what is still in its buffer.
      shutdownManager();
    },
  };
}
