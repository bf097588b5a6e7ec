/**
 * A server that also runs its jobs, in worker threads of the same process. The conductor installs no signal
 * handlers and never ends the process: that is the application's part.
 */
import { Conductor, close } from "solid-jobs";
import { CountPrimes } from "./jobs.ts";

const conductor = new Conductor({
  require: new URL("./jobs.ts", import.meta.url),
  concurrency: 2,
  timeout: 10,
  logLevel: "warn",
});
await conductor.start();

const server = Bun.serve({
  port: Number(process.env["PORT"] ?? 3000),
  routes: {
    "/primes/:limit": {
      POST: async ({ params }) => Response.json({ id: await CountPrimes.enqueue(Number(params.limit)) }),
    },
  },
});
console.log(`listening on ${server.url.href}`);

async function shutDown() {
  await server.stop();
  await conductor.stop();
  await close();
  process.exit(0);
}
process.once("SIGTERM", shutDown);
process.once("SIGINT", shutDown);
// A node that cannot go on ends the application too, so that the supervisor starts it again.
conductor.finished.then((status) => {
  if (status !== 0) process.exit(status);
});
