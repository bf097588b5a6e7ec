/** Publishes three jobs that fail, each in its own way, waits until all have ended, and shows the archive. */
import { Catalog, Conductor, close } from "solid-jobs";
import { ChargeCard, FetchPrices, SendInvoice } from "./jobs.ts";

const conductor = new Conductor({
  require: new URL("./jobs.ts", import.meta.url),
  concurrency: 1,
  logLevel: "silent",
});
const catalog = new Catalog();
await conductor.start();

await FetchPrices.enqueue("corner-shop");
await SendInvoice.enqueue(42);
await ChargeCard.enqueue("4242");

// One job was done, two are in the archive.
for (;;) {
  const { processed, discarded } = await catalog.counters();
  if (processed >= 1 && discarded >= 2) break;
  await Bun.sleep(50);
}
for await (const { envelope } of catalog.discarded.entries()) {
  console.log(`archived: ${envelope?.task} after ${envelope?.failureCount} failures`);
}

await conductor.stop();
await catalog.close();
await close();
