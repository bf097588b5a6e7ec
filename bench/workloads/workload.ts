/** What a job does besides counting itself. Its body in JavaScript is in `bodies.ts`. */
export const workloads = {
  noop: "nothing",
  cpu: "an integer loop of 100,000 iterations",
  "cpu-long": "the same loop, lengthened to about 7 ms in its language",
  io: "a timer of 5 ms",
  mixed: "io when the index is odd, cpu when it is even",
  fib: "fib(25), recursively",
  http: "a GET of BENCH_HTTP_URL, which answers after 200 ms; the body is read",
  postgres: "SELECT pg_sleep(0.1) at BENCH_POSTGRES_URL, from a pool of BENCH_SLOTS connections",
  file: "appends its index as a line to BENCH_FILE: open, write, close",
  order: "a POST to one of the URLs of BENCH_MERCHANTS (JSON), taken in turns by the index; the body is read",
} as const;

export type Workload = keyof typeof workloads;

/** What a workload needs besides the system: tells a worker's process where. */
export interface Surroundings {
  readonly httpUrl?: string;
  readonly postgresUrl?: string;
  readonly file?: string;
  readonly merchantUrls?: readonly string[];
}

export function workloadEnvironment(workload: Workload, around: Surroundings): Record<string, string> {
  return {
    BENCH_WORKLOAD: workload,
    ...(around.httpUrl === undefined ? {} : { BENCH_HTTP_URL: around.httpUrl }),
    ...(around.postgresUrl === undefined ? {} : { BENCH_POSTGRES_URL: around.postgresUrl }),
    ...(around.file === undefined ? {} : { BENCH_FILE: around.file }),
    ...(around.merchantUrls === undefined ? {} : { BENCH_MERCHANTS: JSON.stringify(around.merchantUrls) }),
  };
}
