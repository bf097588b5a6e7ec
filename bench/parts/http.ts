import { on } from "../method/bench.ts";
import { compare } from "../method/compare.ts";
import { withHttpServer } from "../workloads/http-place.ts";
import type { Part } from "./part.ts";

const delayMs = 200;

/** Calls of a service that takes its time. */
export const http: Part = {
  name: "http",
  summary: "1,000 requests to a local server that answers after 200 ms, at concurrency 100",
  run: (bench) =>
    withHttpServer(delayMs, (httpUrl) =>
      compare(bench, {
        part: "http",
        points: [{ workload: "http", concurrency: 100, jobs: 1000, paced: "none" }],
        systems: on(bench, "redis", "none"),
        around: { httpUrl },
        repetitions: bench.isQuick ? 1 : bench.repetitions,
      }),
    ),
};
