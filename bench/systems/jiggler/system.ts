import { join } from "node:path";
import { rubyWith } from "../sidekiq/ruby.ts";
import type { System } from "../system.ts";

const folder = import.meta.dir;
const found = () => rubyWith(["jiggler", "async", "pg"]);

/** One process and one thread with a fiber for each job at a time. */
export const jigglerAtLeastOnce: System = jiggler("at_least_once");
/** The same, but a job that runs is in the process alone. */
export const jigglerAtMostOnce: System = jiggler("at_most_once");

function jiggler(delivery: "at_least_once" | "at_most_once"): System {
  return {
    name: delivery === "at_least_once" ? "jiggler" : "jiggler-at-most-once",
    role: "peer",
    engine: "redis",
    keepsJobs: delivery === "at_least_once",
    pace: 1,
    publishModes: ["single", "bulk"],
    plans: true,
    absence: () => (found() === undefined ? "install Ruby and the gem jiggler" : undefined),
    versions: () => ({ ...found() }),
    shapes: (concurrency) => [{ workers: 1, slots: concurrency, variant: "", text: `${concurrency} fibers` }],
    supports: (workload) => workload !== "postgres" || found()?.["pg"] !== undefined,
    worker: (url, { workers, slots }) => ({
      argv: [
        ...["ruby", "-S", "jiggler", "-r", join(folder, "worker.rb"), "-e", "production"],
        ...["-c", String(workers * slots), "-t", "5"],
      ],
      env: { BENCH_REDIS_URL: `${url}/0`, BENCH_DELIVERY: delivery },
      readyText: "Jiggler version=",
    }),
    client: (url, task) => [
      ...["env", `BENCH_REDIS_URL=${url}/0`, "ruby", join(folder, "client.rb"), JSON.stringify(task)],
    ],
  };
}
