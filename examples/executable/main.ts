/**
 * A program that holds its jobs and their runtime in one file:
 *
 *     bun build --compile --minify examples/executable/main.ts --outfile app
 *     ./app publish        stores some jobs
 *     ./app                runs them, with the flags of solid-jobs (./app --help)
 */
import { close, run } from "solid-jobs";
import { CountPrimes, Nap } from "./tasks.ts";

// Each thread of the node runs this file again, up to `run`: what is for the main thread alone is guarded.
if (Bun.isMainThread && process.argv[2] === "publish") {
  await CountPrimes.enqueueMany([[1_000], [100_000], [1_000_000]]);
  await Nap.enqueueMany([[200], [400]]);
  console.log("published 5 jobs");
  await close();
} else {
  await run({ tasks: [CountPrimes, Nap] });
}
