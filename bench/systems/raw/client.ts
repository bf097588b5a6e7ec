import { serveClient } from "../client-main.ts";
import { openFile, payloadOf } from "./queue.ts";

/** One transaction a call, one insert a job. */
await serveClient((url) => {
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
    async close() {
      insert.finalize();
      database.close();
    },
  };
});
