import type { Shape } from "./system.ts";

/** The greatest number of threads that is measured: beyond it nobody would run a job a thread. */
const mostThreads = 16;

/** Threads with slots: many threads with one slot each, and one thread with many slots. */
export function threadShapes(concurrency: number): readonly Shape[] {
  const workers = { workers: concurrency, slots: 1, variant: "workers", text: `${concurrency} x 1` };
  const slots = { workers: 1, slots: concurrency, variant: "slots", text: `1 x ${concurrency}` };
  if (concurrency === 1) return [workers];
  return concurrency > mostThreads ? [slots] : [workers, slots];
}

/** One thread that runs several jobs at a time. */
export function loopShapes(concurrency: number): readonly Shape[] {
  return [{ workers: 1, slots: concurrency, variant: "", text: `concurrency ${concurrency}` }];
}
