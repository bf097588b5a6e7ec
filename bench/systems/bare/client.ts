import { serveClient } from "../client-main.ts";
import { pathOf } from "../javascript.ts";

/** Its queue is a file with the number of jobs. */
await serveClient((url) => {
  let jobs = 0;
  return {
    async publishMany(_from, to) {
      jobs = to;
    },
    publish: () => Promise.reject(new Error("the bare loop has no queue to publish to")),
    async close() {
      await Bun.write(pathOf(url), String(jobs));
    },
  };
});
