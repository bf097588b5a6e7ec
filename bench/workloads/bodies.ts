import { appendFileSync } from "node:fs";
import type { Workload } from "./workload.ts";

const cpuIterations = 100_000;
/** About 7 ms on the machine where it was chosen (0.19 ms for 100,000). */
const cpuLongIterations = 3_700_000;
const ioMs = 5;
const fibOf = 25;

/** What a job does. Undefined when it is done already. */
export type Body = (index: number) => Promise<unknown> | undefined;

/** Results go somewhere, so that no compiler leaves the work out. */
let sink = 0;

/** The body of BENCH_WORKLOAD, with what it needs opened. @throws Error for a workload it does not know */
export function openBody(environment: Record<string, string | undefined> = process.env): Body {
  const workload = environment["BENCH_WORKLOAD"] as Workload;
  switch (workload) {
    case "noop":
      return () => undefined;
    case "cpu":
      return () => loop(cpuIterations);
    case "cpu-long":
      return () => loop(cpuLongIterations);
    case "io":
      return () => timer(ioMs);
    case "mixed":
      return (index) => (index % 2 === 1 ? timer(ioMs) : loop(cpuIterations));
    case "fib":
      return () => {
        sink = (sink + fib(fibOf)) | 0;
        return undefined;
      };
    case "http":
      return () => read(required(environment, "BENCH_HTTP_URL"));
    case "postgres":
      return sleepInPostgres(required(environment, "BENCH_POSTGRES_URL"), Number(environment["BENCH_SLOTS"]));
    case "file":
      return (index) => {
        appendFileSync(required(environment, "BENCH_FILE"), `${index}\n`);
        return undefined;
      };
    case "order":
      return postOrder(JSON.parse(required(environment, "BENCH_MERCHANTS")) as string[]);
    default:
      throw new Error(`BENCH_WORKLOAD: expected a workload of workload.ts, got "${String(workload)}"`);
  }
}

function loop(iterations: number): undefined {
  let value = sink;
  for (let i = 0; i < iterations; i++) value = (value * 31 + i) | 0;
  sink = value;
}

function timer(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

function fib(n: number): number {
  return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

async function read(url: string, request?: RequestInit): Promise<void> {
  const response = await fetch(url, request);
  if (!response.ok) throw new Error(`the server answered ${response.status}`);
  await response.text();
}

function postOrder(merchants: readonly string[]): Body {
  return (order) =>
    read(merchants[order % merchants.length]!, { method: "POST", body: JSON.stringify({ order }) });
}

function sleepInPostgres(url: string, connections: number): Body {
  const sql = new Bun.SQL(url, { max: connections });
  return () => sql`SELECT pg_sleep(0.1)`.execute();
}

function required(environment: Record<string, string | undefined>, name: string): string {
  const value = environment[name];
  if (value === undefined) throw new Error(`${name}: expected a value for this workload, got none`);
  return value;
}
