import { recordBacklog } from "../embedded/backlog.ts";
import { recordWaking } from "../embedded/waking.ts";
import { type Bench, on } from "../method/bench.ts";
import { compare, type Point } from "../method/compare.ts";
import type { Part } from "./part.ts";
import { comparePublishing } from "./publish.ts";

/** The engine without a server. */
export const embedded: Part = {
  name: "embedded",
  summary:
    "on SQLite files: no-op jobs/s by concurrency and queue length, publishing, a long backlog, waking",
  async run(bench) {
    const systems = on(bench, "sqlite");
    const repetitions = bench.isQuick ? 1 : bench.repetitions;
    await compare(bench, { part: "embedded", points: points(bench), systems, repetitions });
    await comparePublishing(bench, "embedded", systems);
    if (!systems.some(({ role }) => role === "ours")) return;
    if (bench.isQuick) bench.note("embedded: backlog and waking are left out of a short run of all parts");
    else {
      await recordBacklog(bench, "embedded");
      await recordWaking(bench, "embedded");
    }
  },
};

function points({ options, isQuick }: Bench): Point[] {
  const point = (concurrency: number, jobs: number, paced: Point["paced"]): Point => ({
    ...{ workload: "noop", concurrency, jobs, paced },
  });
  if (isQuick) return [1, 50].map((concurrency) => point(concurrency, 10_000, "each"));
  const short = [1, 4, 8, 50, 200].map((concurrency) => point(concurrency, 20_000, "each"));
  if (!options.isFull) return short;
  return [...short, ...[20_000, 100_000, 1_000_000].map((jobs) => point(10, jobs, "none"))];
}
