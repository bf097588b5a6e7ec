/**
 * `npm run demo`: one job for each file of a directory tree, each computing a SHA-256 and a gzip size on the
 * node's workers; some fail on purpose and are retried, some are scheduled a second ahead. At the end every
 * result is checked against an independent computation, and the store against what was published. Exits 1
 * when a job is lost or a result is wrong.
 *
 *     npm run demo -- [directory] [--url redis://host:port] [--concurrency n]
 *
 * Without a URL it needs no service: the jobs are in a file of the embedded engine.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";
import { Conductor, close, configure } from "solid-jobs";
import { wrongResults } from "./check.ts";
import { treeOf } from "./files.ts";
import { storeIntegrity } from "./integrity.ts";
import { ResultReader } from "./result-log.ts";
import { demoStore } from "./store.ts";
import { count, summary, table } from "./summary.ts";
import { awaitResults, missingResults, publishWorkload, punctual, type Workload } from "./workload.ts";

const problemsShown = 10;

interface Options {
  readonly root: string;
  readonly url: string | undefined;
  readonly concurrency: number | undefined;
}

function options(): Options {
  const { values, positionals } = parseArgs({
    args: Bun.argv.slice(2),
    options: { url: { type: "string" }, concurrency: { type: "string", short: "c" } },
    allowPositionals: true,
  });
  return {
    root: resolve(positionals[0] ?? join(import.meta.dir, "..", "..", "node_modules")),
    url: values.url,
    concurrency: values.concurrency === undefined ? undefined : Number(values.concurrency),
  };
}

/** Runs the workload and prints what came of it. Resolves to what is wrong: nothing, if all is well. */
async function demo({ root, url, concurrency }: Options, interrupted: AbortSignal): Promise<string[]> {
  const { files, skipped } = treeOf(root);
  if (skipped.length > 0)
    console.log(`left out: ${count(skipped.length)} files that cannot be read or are too large`);
  const prefix = `solid_jobs_demo_${crypto.randomUUID()}:`;
  const resultFolder = mkdtempSync(join(tmpdir(), "solid-jobs-demo-"));
  const store = demoStore({ url, prefix, folder: resultFolder });
  try {
    configure({ url: store.url, prefix, concurrency, logLevel: "error" });
    const reader = new ResultReader(resultFolder);
    const { workload, seconds } = await run(files, resultFolder, reader, interrupted);
    if (interrupted.aborted) return ["interrupted"];
    console.log(
      summary({ root, store: described(store.url), results: reader.results, seconds, dueMs: workload.dueMs }),
    );
    return await problems(workload, reader);
  } finally {
    await close();
    rmSync(resultFolder, { recursive: true, force: true });
    await store.remove();
  }
}

function described(url: string): string {
  return url.startsWith("sqlite:") ? "the embedded engine, in one file" : "Redis";
}

/** A node works on the files until each has its result. */
async function run(
  files: readonly string[],
  resultFolder: string,
  reader: ResultReader,
  interrupted: AbortSignal,
): Promise<{ workload: Workload; seconds: number }> {
  const conductor = new Conductor({
    require: [join(import.meta.dir, "jobs.ts")],
    channels: [punctual, "default"],
    channelOrder: "priority",
  });
  await conductor.start();
  try {
    const start = performance.now();
    const workload = await publishWorkload(files, resultFolder);
    await awaitResults(workload, reader, interrupted);
    return { workload, seconds: (performance.now() - start) / 1000 };
  } finally {
    await conductor.stop();
  }
}

/** Holds the results against an independent computation, and the store against what was published. */
async function problems(workload: Workload, reader: ResultReader): Promise<string[]> {
  const missing = missingResults(workload, reader);
  const start = performance.now();
  const wrong = await wrongResults(reader.results);
  const seconds = ((performance.now() - start) / 1000).toFixed(1);
  const right = count(reader.results.length - wrong.length);
  const results = `${right} of ${count(workload.ids.length)} equal an independent computation (${seconds} s)`;
  const integrity = await storeIntegrity(workload.ids, reader.ids);
  console.log(
    table([
      ["results", results],
      ["integrity", integrity.text],
    ]),
  );
  return [...missing, ...wrong, ...integrity.problems];
}

const interruption = new AbortController();
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => interruption.abort());
try {
  const found = await demo(options(), interruption.signal);
  for (const problem of found.slice(0, problemsShown)) console.error(`demo: ${problem}`);
  if (found.length > problemsShown) console.error(`demo: and ${found.length - problemsShown} more`);
  process.exitCode = found.length === 0 ? 0 : 1;
} catch (error) {
  console.error(`demo: ${(error as Error).message}`);
  process.exitCode = 1;
}
