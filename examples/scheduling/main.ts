/** Plans two jobs, one by a delay and one by a date, and waits until both have run. */
import { Catalog, Conductor, close } from "solid-jobs";
import { Remind } from "./jobs.ts";

const conductor = new Conductor({
  require: new URL("./jobs.ts", import.meta.url),
  concurrency: 1,
  logLevel: "error",
});
const catalog = new Catalog();
await conductor.start();

const now = Date.now();
await Remind.enqueueAfter(0.5, "half a second has passed", now + 500);
await Remind.scheduleAt(new Date(now + 1000), "a second has passed", now + 1000);
console.log(`planned: ${await catalog.planned.size()}`);

while ((await catalog.counters()).processed < 2) await Bun.sleep(50);

await conductor.stop();
await catalog.close();
await close();
