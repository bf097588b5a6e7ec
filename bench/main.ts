/**
 * `npm run bench`: measures solid-jobs beside its peers on this machine (`--help` has the parts and options).
 * Exits 1 when a run failed: a job that did not run, ran twice or threw. A missed goal is not a failure.
 */
import { benchProgram } from "./cli/program.ts";
import { runParts } from "./cli/run-parts.ts";
import { parts } from "./parts/parts.ts";
import { systems } from "./systems/systems.ts";

/** Loaded when asked for: they need packages of this folder. */
async function runExperiments(name: string | undefined, repetitions: number | undefined): Promise<void> {
  const experiments = await import("./experiments/run.ts");
  await experiments.runExperiments(name, repetitions);
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  // What was started ends with this process.
  process.on(signal, () => process.exit(signal === "SIGINT" ? 130 : 143));
}

try {
  const systemNames = systems.map(({ name }) => name);
  await benchProgram({ parts, systemNames, run: runParts, runExperiments }).parseAsync();
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}
