import { isNodeThread } from "./entry.ts";

const { serve } = Bun;

/**
 * Keeps a main file that runs again in a node's thread from serving there before it has come to `run`: the
 * thread would then serve instead of working, or beside the main thread on a port of its own. Jobs may serve.
 */
function refuse(): never {
  const error = new Error("Bun.serve was called");
  Error.captureStackTrace(error, refuse); // the place that counts is the caller's
  throw error;
}

if (isNodeThread) Bun.serve = refuse;

/** For a thread that has taken its role. */
export function allowServing(): void {
  Bun.serve = serve;
}
