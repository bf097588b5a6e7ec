import { Queue, shutdownManager } from "bunqueue/client";
import { serveClient } from "../client-main.ts";
import { pathOf } from "../javascript.ts";
import { queueName } from "./queue.ts";

const name = "mark";
// Like the others, it keeps nothing of a job that is done.
const opts = { removeOnComplete: true };

await serveClient((url) => {
  const queue = new Queue<{ index: number }>(queueName, { embedded: true, dataPath: pathOf(url) });
  return {
    publishMany: (from, to) =>
      queue.addBulk(Array.from({ length: to - from }, (_, i) => ({ name, data: { index: from + i }, opts }))),
    publish: (index) => queue.add(name, { index }, opts),
    publishAt: (index, dueMs) =>
      queue.add(name, { index }, { ...opts, delay: Math.max(0, dueMs - Date.now()) }),
    async close() {
      await queue.close();
      // Writes what is still in its buffer.
      shutdownManager();
    },
  };
});
