import { Queue } from "bullmq";
import type { Client } from "../system.ts";
import { connectionTo, queueName } from "./queue.ts";

export function openClient(url: string): Client {
  const queue = new Queue(queueName, { connection: connectionTo(url) });
  return {
    publishMany: (from, to) =>
      queue.addBulk(
        Array.from({ length: to - from }, (_, i) => ({ name: "mark", data: { index: from + i } })),
      ),
    publish: (index) => queue.add("mark", { index }),
    publishAt: (index, dueMs) => queue.add("mark", { index }, { delay: Math.max(0, dueMs - Date.now()) }),
    close: () => queue.close(),
  };
}
