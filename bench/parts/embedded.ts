import { recordBacklog } from "../embedded/backlog.ts";
import { recordWaking } from "../embedded/waking.ts";
import { type Bench, on } from "../method/bench.ts";
import { compare, type Point } from "../method/compare.ts";
import type { Part } from "./part.ts";
import { comparePublishing } from "./publish.ts";

/** The engine without a server. */
export const embedded: Part = {
  name: "embedded",
  summary: "on SQLite files: no-op jobs/s by concurrency, publishing, what a long backlog costs, waking",
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
  const point = (concurrency: number): Point => ({
    ...{ workload: "noop", concurrency, jobs: isQuick ? 10_000 : 20_000, paced: "each" },
  });
  return (isQuick ? [1, 50] : options.isFull ? [1, 2, 4, 8, 16, 50, 200] : [1, 4, 8, 50]).map(point);
}
