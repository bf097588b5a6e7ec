import { CommanderError } from "commander";
import type { LoadedTasks } from "../conductor/probe.ts";
import { processConfiguration } from "../config/process.ts";
import { settingsFrom } from "../config/resolve.ts";
import type { Settings } from "../config/settings.ts";
import type { Flags } from "../config/sources.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import { runSettings } from "./run.ts";
import { refuseStray, settingsCommand } from "./settings-command.ts";

/** What a program with its tasks inside has no use for. */
const unusable = ["require", "watch"] as const;

export interface Executable {
  /** As its messages and help call it. */
  readonly name: string;
  readonly args: readonly string[];
  readonly tasks: LoadedTasks;
}

/**
 * The command line of a program that called `run`. Resolves to the node's exit status, or 0 after `--help`
 * and `--version`.
 *
 * @throws CommanderError for flags that cannot be read, SolidJobsError when the node does not start
 */
export async function runExecutable({ name, args, tasks }: Executable): Promise<number> {
  let status = 0;
  const command = settingsCommand(name, unusable)
    .description(
      "Runs a node: worker threads that take jobs from the store and execute this program's tasks.",
    )
    .usage("[options]")
    .action(async (stray: string[], opts: Record<string, unknown>) => {
      refuseStray(stray, `see ${name} --help`);
      status = await runSettings(settingsOf(opts), tasks);
    });
  try {
    await command.parseAsync(args, { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError) || error.exitCode !== 0) throw error;
  }
  return status;
}

/** Flags are looked at first: what they name need not exist. */
function settingsOf({ config, ...flags }: Record<string, unknown>): Settings {
  refuseUnusable({ require: flags["require"] !== undefined, watch: flags["watch"] !== undefined });
  const { given } = processConfiguration();
  const settings = settingsFrom({ flags: flags as Flags, configFile: config as string | undefined, given });
  refuseUnusable({ require: settings.require.length > 0, watch: settings.watch });
  return settings;
}

function refuseUnusable(isGiven: Readonly<Record<(typeof unusable)[number], boolean>>): void {
  if (isGiven.require) {
    throw new ConfigurationError(
      "this program has its tasks inside: expected no modules, got some from -r, SOLID_JOBS_REQUIRE or require in the config file",
    );
  }
  if (isGiven.watch) {
    throw new ConfigurationError(
      "this program has its tasks inside: expected no --watch (nor SOLID_JOBS_WATCH, nor watch in the config file), since it cannot load them anew; start it again after a change",
    );
  }
}
