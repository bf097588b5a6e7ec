import { ConfigurationError } from "../foundation/errors.ts";
import { isNodeThread } from "./entry.ts";

const { serve } = Bun;

/**
 * Keeps a main file that runs again in a node's thread from serving there before it has come to `run`: the
 * thread would then serve instead of working, or beside the main thread on a port of its own. Jobs may serve.
 */
if (isNodeThread) {
  Bun.serve = () => {
    throw new ConfigurationError("Bun.serve was called");
  };
}

/** For a thread that has taken its role. */
export function allowServing(): void {
  Bun.serve = serve;
}
