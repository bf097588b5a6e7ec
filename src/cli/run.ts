import type { Conductor } from "../conductor/conductor.ts";
import type { LoadedTasks } from "../conductor/probe.ts";
import type { Environment } from "../config/environment.ts";
import { settingsFrom } from "../config/resolve.ts";
import type { Settings } from "../config/settings.ts";
import type { Flags } from "../config/sources.ts";
import { ConfigurationError, SolidJobsError } from "../foundation/errors.ts";
import { lineWriter } from "../instrumentation/line-writer.ts";
import type { Logger } from "../instrumentation/logger.ts";
import { createLogger } from "../instrumentation/logger-output.ts";
import { banner, type NodeDescription } from "./banner.ts";
import { watchModules } from "./watch.ts";

/**
 * Runs a node until it ends and resolves to its exit status.
 * @throws ConfigurationError for settings that cannot be used; SolidJobsError when the node does not start.
 * Nothing is left running then
 */
export async function runNode(
  flags: Flags,
  configFile: string | undefined,
  env: Environment,
): Promise<number> {
  const settings = settingsFrom({ flags, configFile, env });
  if (settings.require.length === 0) {
    throw new ConfigurationError(
      "no modules with tasks: give them with -r ./jobs.ts, SOLID_JOBS_REQUIRE, or require in the config file",
    );
  }
  return runSettings(settings);
}

/**
 * The same with settings that are complete, and with the program's own tasks where it has any.
 *
 * @throws SolidJobsError when the node does not start
 */
export async function runSettings(settings: Settings, tasks?: LoadedTasks): Promise<number> {
  const logger = createLogger({ level: settings.logLevel });
  // Loaded late: --help and wrong settings are answered without the runtime.
  const { Conductor } = await import("../conductor/conductor.ts");
  const { obeySignals } = await import("../conductor/signals.ts");
  const conductor = new Conductor({ settings, logger, ...(tasks && { tasks }) });
  obeySignals(conductor);
  if (!(await hasStarted(conductor))) return conductor.finished;
  await announce(conductor.description, logger, settings.logLevel);
  setTimeout(() => void collectLoading(), collectAfterMs);
  const watcher = settings.watch ? watchModules(settings.require, conductor, logger) : undefined;
  try {
    return await conductor.finished;
  } finally {
    watcher?.close();
  }
}

const collectAfterMs = 1500;

/** What loading left behind in this thread, which has little to do from now on. */
async function collectLoading(): Promise<void> {
  const { collectSmallHeap } = await import("../worker/idle-collector.ts");
  collectSmallHeap();
}

/** False when a signal stopped it before it had started. */
async function hasStarted(conductor: Conductor): Promise<boolean> {
  try {
    await conductor.start();
    return true;
  } catch (error) {
    if (error instanceof SolidJobsError && error.code === "STOPPED") return false;
    throw error;
  }
}

async function announce(description: NodeDescription, logger: Logger, level: string): Promise<void> {
  const { tasks, channels, ...facts } = description;
  const { isatty } = await import("node:tty"); // slow to load, and the workers run already
  if (!isatty(1)) logger.info("node started", { ...facts, channels, tasks });
  else if (level === "info" || level === "debug") lineWriter(1)(banner(description));
}
