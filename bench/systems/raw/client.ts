import type { Client } from "../system.ts";
import { openFile, payloadOf } from "./queue.ts";

/** One transaction a call, one insert a job. */
export function openClient(url: string): Client {
  const database = openFile(url);
  const insert = database.prepare<unknown, [string]>(
    "INSERT INTO jobs (channel, state, payload) VALUES (1, 2, ?)",
  );
  const publishMany = database.transaction((from: number, to: number) => {
    for (let index = from; index < to; index++) insert.run(payloadOf(index));
  }).immediate;
  return {
    publishMany: async (from, to) => publishMany(from, to),
    publish: async (index) => publishMany(index, index + 1),
    publishAt: () => Promise.reject(new Error("the raw loop has no planned jobs")),
    async close() {
      insert.finalize();
      database.close();
    },
  };
}
