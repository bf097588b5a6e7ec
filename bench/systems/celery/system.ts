import { join } from "node:path";
import type { Workload } from "../../workloads/workload.ts";
import type { ClientTask, Shape, System, WorkerCommand } from "../system.ts";
import { type Python, python } from "./python.ts";

const folder = import.meta.dir;
/** More processes than this take gigabytes. */
const mostProcesses = 100;
const fair = ["--prefetch-multiplier=1", "-Ofair"];
const quiet = ["--without-gossip", "--without-mingle", "--without-heartbeat"];

/** A child process for each job at a time. */
export const celeryPrefork: System = celery({
  name: "celery-prefork",
  pool: "prefork",
  pace: 0.12,
  absence: () => missing([]),
  shapes: (concurrency) =>
    concurrency > mostProcesses ? [] : [shape(concurrency, 1, `${concurrency} processes`)],
});

/** One process and one thread, with a greenlet for each job at a time. */
export const celeryGevent: System = celery({
  name: "celery-gevent",
  pool: "gevent",
  pace: 0.05,
  absence: () => missing(["gevent"]),
  shapes: (concurrency) => [shape(1, concurrency, `${concurrency} greenlets`)],
});

interface Kind extends Pick<System, "name" | "pace" | "absence" | "shapes"> {
  readonly pool: "prefork" | "gevent";
}

function celery({ pool, ...kind }: Kind): System {
  return {
    ...kind,
    role: "peer",
    engine: "redis",
    // So configured it acknowledges a job before it runs.
    keepsJobs: false,
    publishModes: ["single"],
    plans: true,
    versions: () => ({ ...python()?.versions }),
    supports: (workload) => supports(workload),
    worker: (url, given) => workerCommand(pool, url, given),
    client: (url, task) => clientCommand(url, task),
  };
}

function shape(workers: number, slots: number, text: string): Shape {
  return { workers, slots, variant: "", text };
}

function missing(modules: readonly (keyof Python["versions"])[]): string | undefined {
  const found = python();
  const isComplete = found !== undefined && modules.every((name) => found.versions[name] !== undefined);
  if (isComplete) return undefined;
  return "install Celery with gevent for a python3, such as Debian's python3-celery python3-redis python3-gevent";
}

function supports(workload: Workload): boolean {
  return workload !== "postgres" || python()?.versions.psycopg2 !== undefined;
}

function workerCommand(pool: Kind["pool"], url: string, { workers, slots }: Shape): WorkerCommand {
  // Greenlets keep the usual prefetching: one that may fetch no second job before the first is acknowledged
  // learns of the acknowledgement only when its next poll of Redis ends, after up to two seconds.
  const sharing = pool === "prefork" ? fair : [];
  const options = ["-P", pool, "-c", String(workers * slots), ...sharing, ...quiet];
  return {
    argv: [pathOfPython(), "-m", "celery", "-A", "bench_app", "worker", "-l", "warning", ...options],
    env: { ...environment(url), BENCH_POOL: pool },
  };
}

function clientCommand(url: string, task: ClientTask): readonly string[] {
  const variables = Object.entries(environment(url)).map(([name, value]) => `${name}=${value}`);
  return ["env", ...variables, pathOfPython(), join(folder, "client.py"), JSON.stringify(task)];
}

function environment(url: string): Record<string, string> {
  return { BENCH_BROKER: `${url}/0`, PYTHONPATH: folder, PYTHONDONTWRITEBYTECODE: "1" };
}

function pathOfPython(): string {
  const found = python();
  if (found === undefined) throw new Error("no python3 with Celery was found: ask absence() first");
  return found.path;
}
