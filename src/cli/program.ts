import { Command, CommanderError, Option } from "commander";
import packageFacts from "../../package.json" with { type: "json" };
import type { Environment } from "../config/environment.ts";
import type { Flags } from "../config/sources.ts";
import { type SettingRow, settingNames, settingsTable } from "../config/table.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import { lineWriter } from "../instrumentation/line-writer.ts";
import { complaint } from "./complaint.ts";
import { runNode } from "./run.ts";

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
  const program = new Command("solid-jobs")
    .description("Runs a node: worker threads that take jobs from the store and execute their tasks.")
    .usage("-r <paths...> [options]")
    .version(packageFacts.version, "-V, --version", "print the version")
    .helpOption("-h, --help", "print this help")
    .exitOverride()
    .configureOutput({ writeOut: lineWriter(1), outputError: () => {} })
    .showSuggestionAfterError(true)
    .argument("[stray...]")
    .addHelpText("after", examples);
  program.configureHelp({ visibleArguments: () => [] });
  for (const option of options()) program.addOption(option);
  return program.action((stray: string[], opts: Record<string, unknown>) => {
    refuseStray(stray);
    const { config, ...flags } = opts;
    return action(flags, config as string | undefined);
  });
}

/** The flags of the table of settings in its order, and the config file's. */
function options(): Option[] {
  const settings = settingNames.flatMap((name) => flagsOf(settingsTable[name]));
  return [...settings, new Option("-C, --config <path>", "TOML or JSON file with settings")];
}

function flagsOf({ flag, alias, doc, initialText }: SettingRow<unknown>): Option[] {
  const own = flag === undefined ? [] : [optionOf(flag, `${doc} (default: ${initialText})`)];
  return alias === undefined ? own : [...own, optionOf(alias.flag, alias.doc)];
}

/** `--channel` may be repeated: commander collects what a parser of its own puts together. */
function optionOf(flag: string, text: string): Option {
  const option = new Option(flag, text.replaceAll("`", ""));
  if (!flag.startsWith("--channel")) return option;
  return option.argParser((value, earlier: string[] | undefined) => [...(earlier ?? []), value]);
}

function refuseStray(stray: readonly string[]): void {
  const [first] = stray;
  if (first === undefined) return;
  throw new ConfigurationError(
    `expected flags only, got ${JSON.stringify(first)}: modules are given with -r (see solid-jobs --help)`,
  );
}
