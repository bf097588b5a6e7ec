import { serveClient } from "../client-main.ts";
import { openQueue } from "./queue.ts";

await serveClient(async (url) => {
  const queue = openQueue(url, false);
  await queue.ready();
  return {
    async publishMany(from, to) {
      const jobs = Array.from({ length: to - from }, (_, i) => queue.createJob({ index: from + i }));
      const errors = await queue.saveAll(jobs);
      for (const error of errors.values()) throw error;
    },
    publish: (index) => queue.createJob({ index }).save(),
    publishAt: (index, dueMs) => queue.createJob({ index }).delayUntil(dueMs).save(),
    close: () => queue.close(),
  };
});
