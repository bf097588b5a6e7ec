import type { Conductor } from "./conductor.ts";

/**
 * Lets a process's signals steer its node: SIGTERM and SIGINT stop it, a second one at once; SIGTSTP makes
 * it quiet; SIGTTIN prints every worker, slot and job. Only for a process that is a node's own.
 */
export function obeySignals(conductor: Conductor): void {
  let stops = 0;
  const stop = () => {
    stops += 1;
    void (stops === 1 ? conductor.stop() : conductor.stopNow());
  };
  process.on("SIGTERM", stop);
  process.on("SIGINT", stop);
  process.on("SIGTSTP", () => conductor.quiet());
  process.on("SIGTTIN", () => conductor.report());
}
