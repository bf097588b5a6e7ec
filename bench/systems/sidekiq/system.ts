import { join } from "node:path";
import type { System } from "../system.ts";
import { rubyWith } from "./ruby.ts";

const folder = import.meta.dir;
const found = () => rubyWith(["sidekiq", "redis", "pg"]);

/** One process with a thread for each job at a time. */
export const sidekiq: System = {
  name: "sidekiq",
  role: "peer",
  engine: "redis",
  // Without its paid edition a job that runs is in its process alone.
  keepsJobs: false,
  pace: 0.7,
  publishModes: ["single", "bulk"],
  plans: true,
  absence: () =>
    found() === undefined ? "install Ruby and its sidekiq, such as Debian's ruby ruby-sidekiq" : undefined,
  versions: () => ({ ...found() }),
  shapes: (concurrency) => [{ workers: 1, slots: concurrency, variant: "", text: `${concurrency} threads` }],
  supports: (workload) => workload !== "postgres" || found()?.["pg"] !== undefined,
  worker: (url, { workers, slots }) => ({
    argv: [
      ...["ruby", "-S", "sidekiq", "-r", join(folder, "worker.rb"), "-e", "production"],
      ...["-c", String(workers * slots), "-t", "5"],
    ],
    env: { REDIS_URL: `${url}/0` },
  }),
  client: (url, task) => [
    ...["env", `REDIS_URL=${url}/0`, "ruby", join(folder, "client.rb"), JSON.stringify(task)],
  ],
};
