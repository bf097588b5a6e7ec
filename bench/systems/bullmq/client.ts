import { Queue } from "bullmq";
import { serveClient } from "../client-main.ts";
import { connectionTo, queueName } from "./queue.ts";

const name = "mark";

await serveClient((url) => {
  const queue = new Queue(queueName, { connection: connectionTo(url) });
  return {
    publishMany: (from, to) =>
      queue.addBulk(Array.from({ length: to - from }, (_, i) => ({ name, data: { index: from + i } }))),
    publish: (index) => queue.add(name, { index }),
    publishAt: (index, dueMs) => queue.add(name, { index }, { delay: Math.max(0, dueMs - Date.now()) }),
    close: () => queue.close(),
  };
});
