import { Command, Option } from "commander";
import packageFacts from "../../package.json" with { type: "json" };
import { type SettingName, type SettingRow, settingNames, settingsTable } from "../config/table.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import { lineWriter } from "../instrumentation/line-writer.ts";

/**
 * A command that takes every setting as a flag, throws a CommanderError instead of exiting, and collects
 * words that are no flags for `refuseStray`.
 */
export function settingsCommand(name: string, hidden: readonly SettingName[] = []): Command {
  const command = new Command(name)
    .version(packageFacts.version, "-V, --version", "print the version of solid-jobs")
    .helpOption("-h, --help", "print this help")
    .exitOverride()
    .configureOutput({ writeOut: lineWriter(1), outputError: () => {} })
    .showSuggestionAfterError(true)
    .argument("[stray...]")
    .configureHelp({ visibleArguments: () => [] });
  for (const option of settingFlags(hidden)) command.addOption(option);
  return command;
}

/** @throws ConfigurationError for a word that is no flag; `hint` says what to do */
export function refuseStray(stray: readonly string[], hint: string): void {
  const [first] = stray;
  if (first === undefined) return;
  throw new ConfigurationError(`expected flags only, got ${JSON.stringify(first)}: ${hint}`);
}

/**
 * The flags of the table of settings in its order, and the config file's. Those of `hidden` settings are
 * read but not shown by the help, so that whoever gives one is told why it is refused.
 */
function settingFlags(hidden: readonly SettingName[]): Option[] {
  const settings = settingNames.flatMap((name) => {
    const flags = flagsOf(settingsTable[name]);
    return hidden.includes(name) ? flags.map((flag) => flag.hideHelp()) : flags;
  });
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
