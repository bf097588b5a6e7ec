import { type Command, CommanderError } from "commander";
import type { Environment } from "../config/environment.ts";
import type { Flags } from "../config/sources.ts";
import { lineWriter } from "../instrumentation/line-writer.ts";
import { complaint } from "./complaint.ts";
import { addGatewayCommand } from "./gateway.ts";
import { addMoveCommand } from "./move.ts";
import { runNode } from "./run.ts";
import { refuseStray, settingsCommand } from "./settings-command.ts";

const examples = `
Examples:
  Two threads, ten jobs at a time in each, for all tasks in a folder:
    $ solid-jobs -r ./jobs -c 2 -s 10 --redis-url redis://localhost:6379/0

  Three jobs of "critical" for each of "default", and 25 seconds to finish at a stop:
    $ solid-jobs -r './app/**/*.job.ts' --channel critical,3 --channel default -t 25

Each setting can also be given in a TOML or JSON file (-C) and as SOLID_JOBS_<NAME>;
flags win over the environment, the environment over the file.`;

/** The node to run, told apart from the command line's own work so that tests can watch it. */
export type RunCommand = (flags: Flags, configFile: string | undefined, env: Environment) => Promise<number>;

/**
 * The whole command line. Resolves to the exit status: 0 for a clean end, `--help` and `--version`; 1,
 * with one line on standard error, for everything that went wrong. Never rejects.
 */
export async function main(args: readonly string[], run: RunCommand = runNode): Promise<number> {
  try {
    let status = 0;
    const program = buildProgram(async (flags, configFile) => {
      status = await run(flags, configFile, process.env);
    });
    const finish = (its: number) => {
      status = its;
    };
    addGatewayCommand(program, process.env, finish);
    addMoveCommand(program, process.env, finish);
    await program.parseAsync(args, { from: "user" });
    return status;
  } catch (error) {
    if (error instanceof CommanderError && error.exitCode === 0) return 0;
    lineWriter(2)(complaint(error));
    return 1;
  }
}

type Action = (flags: Flags, configFile: string | undefined) => Promise<void>;

function buildProgram(action: Action): Command {
  return settingsCommand("solid-jobs")
    .description("Runs a node: worker threads that take jobs from the store and execute their tasks.")
    .usage("-r <paths...> [options]")
    .addHelpText("after", examples)
    .action((stray: string[], opts: Record<string, unknown>) => {
      refuseStray(stray, "modules are given with -r (see solid-jobs --help)");
      const { config, ...flags } = opts;
      return action(flags, config as string | undefined);
    });
}
