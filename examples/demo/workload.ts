import { setTimeout as pause } from "node:timers/promises";
import { HashFile } from "./jobs.ts";
import { Progress } from "./progress.ts";
import type { ResultReader } from "./result-log.ts";

/** The channel of the scheduled jobs, which need not wait behind the others. */
export const punctual = "punctual";

/** One in this many jobs fails on purpose, and another one is scheduled ahead. */
const stride = 20;
const aheadSeconds = 1;
/** The slowest single job (a gigabyte to compress) takes less on a slow machine. */
const patienceMs = 120_000;

/** What was published, to be held against what came of it. */
export interface Workload {
  readonly ids: readonly string[];
  /** How often a job fails before it succeeds, by id; jobs that do not fail are absent. */
  readonly failures: ReadonlyMap<string, number>;
  /** When a scheduled job is to start, in epoch milliseconds, by id. */
  readonly dueMs: ReadonlyMap<string, number>;
}

/** Publishes one job for each file. */
export async function publishWorkload(files: readonly string[], resultFolder: string): Promise<Workload> {
  const isFailing = (index: number) => index % stride === 0;
  const isAhead = (index: number) => index % stride === 1;
  const failing = files.filter((_, index) => isFailing(index));
  const ahead = files.filter((_, index) => isAhead(index));
  const plain = files.filter((_, index) => !isFailing(index) && !isAhead(index));

  const plainIds = await HashFile.enqueueMany(plain.map((file) => [file, resultFolder, 0]));
  const failuresOf = (index: number) => 1 + (index % 2);
  const failingIds = await HashFile.enqueueMany(
    failing.map((file, index) => [file, resultFolder, failuresOf(index)]),
  );
  const dueMs = new Map<string, number>();
  const scheduling = HashFile.withOptions({ channel: punctual });
  for (const file of ahead) {
    const due = Date.now() + aheadSeconds * 1000;
    dueMs.set((await scheduling.enqueueAfter(aheadSeconds, file, resultFolder, 0))!, due);
  }
  return {
    ids: [...plainIds, ...failingIds, ...dueMs.keys()],
    failures: new Map(failingIds.map((id, index) => [id, failuresOf(index)])),
    dueMs,
  };
}

/** Resolves when every job has written its result, when none comes any more, or when it is interrupted. */
export async function awaitResults(
  { ids }: Workload,
  reader: ResultReader,
  interrupted: AbortSignal,
): Promise<void> {
  const progress = new Progress(ids.length);
  let lastChange = performance.now();
  let done = -1;
  while (done < ids.length && performance.now() - lastChange < patienceMs && !interrupted.aborted) {
    reader.read();
    if (reader.ids.size > done) lastChange = performance.now();
    done = reader.ids.size;
    progress.show(done);
    await pause(25);
  }
  progress.clear();
}

/** Jobs without a result, and jobs that did not fail as often as they were to. One line for each. */
export function missingResults({ ids, failures }: Workload, reader: ResultReader): string[] {
  const attempts = new Map(reader.results.map(({ id, attempt }) => [id, attempt]));
  return ids.flatMap((id) => {
    const attempt = attempts.get(id);
    if (attempt === undefined) return [`job ${id} has no result`];
    const expected = (failures.get(id) ?? 0) + 1;
    return attempt < expected ? [`job ${id}: expected attempt ${expected} to succeed, ${attempt} did`] : [];
  });
}
