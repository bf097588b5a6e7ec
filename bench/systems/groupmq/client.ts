import { serveClient } from "../client-main.ts";
import { chunk } from "../system.ts";
import { groupOf, openQueue } from "./queue.ts";

await serveClient((url, task) => {
  const single = openQueue(url);
  // Its call for many: jobs that are added while a batch is being collected go in one script call.
  const batching = openQueue(url, { batch: chunk });
  const concurrency = task.kind === "fill" ? task.concurrency : 1;
  const job = (index: number) => ({ groupId: groupOf(index, concurrency), data: { index } });
  return {
    publishMany: (from, to) =>
      Promise.all(Array.from({ length: to - from }, (_, i) => batching.add(job(from + i)))),
    publish: (index) => single.add(job(index)),
    publishAt: (index, dueMs) => single.add({ ...job(index), runAt: dueMs }),
    async close() {
      await batching.close();
      await single.close();
    },
  };
});
