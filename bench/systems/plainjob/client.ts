import { serveClient } from "../client-main.ts";
import { jobType, openQueue } from "./queue.ts";

await serveClient((url) => {
  const queue = openQueue(url);
  return {
    publishMany: async (from, to) =>
      queue.addMany(
        jobType,
        Array.from({ length: to - from }, (_, i) => ({ index: from + i })),
      ),
    publish: async (index) => queue.add(jobType, { index }),
    publishAt: async (index, dueMs) =>
      queue.add(jobType, { index }, { delay: Math.max(0, dueMs - Date.now()) }),
    close: async () => queue.close(),
  };
});
