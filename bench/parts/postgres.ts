import { on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import { postgresAbsence, withPostgres } from "../workloads/postgres-place.ts";
import type { Part } from "./part.ts";

/** Queries that take their time, each slot on a connection of its own. */
export const postgres: Part = {
  name: "postgres",
  summary: "SELECT pg_sleep(0.1) on a private PostgreSQL, at concurrency 50 (full: 10, 50, 100, 200)",
  async run(bench) {
    const absence = postgresAbsence();
    if (absence !== undefined) return bench.note(`postgres is left out: ${absence}`);
    await withPostgres((postgresUrl) =>
      compare(bench, {
        part: "postgres",
        points: (bench.options.isFull ? [10, 50, 100, 200] : [50]).map((concurrency) => ({
          ...{ workload: "postgres", concurrency, jobs: 20 * concurrency, paced: "none" },
        })),
        systems: on(bench, "redis", "none"),
        around: { postgresUrl },
        repetitions: bench.isQuick ? 1 : bench.repetitions,
      }),
    );
  },
};
