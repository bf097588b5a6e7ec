import { Command } from "commander";
import type { Options } from "../method/options.ts";
import type { Part } from "../parts/part.ts";
import { type Flags, namesAmong, optionsOf, positive, positiveWhole } from "./options.ts";

export interface ProgramGiven {
  readonly parts: readonly Part[];
  readonly systemNames: readonly string[];
  /** Measures the parts; what it throws is the program's failure. */
  run(parts: readonly Part[], options: Options): Promise<void>;
  /** Measures one of the experiments, or all; beside the parts, for what `docs/performance.md` reports. */
  runExperiments(name: string | undefined, repetitions: number | undefined): Promise<void>;
}

/** The command line of the benchmark: all parts, or one of them as a subcommand. */
export function benchProgram({ parts, systemNames, run, runExperiments }: ProgramGiven): Command {
  const names = parts.map(({ name }) => name).join(", ");
  const program: Command = new Command("bench")
    .description("Measures solid-jobs beside its peers on this machine. Without a part: all of them.")
    .argument("[part]", "one of the parts below")
    .allowExcessArguments(false)
    .option("--full", "larger numbers, all points and 6 runs of each: hours instead of ten minutes", false)
    .option("--systems <names>", `only these: ${systemNames.join(",")}`, namesAmong(systemNames))
    .option(
      "--repetitions <n>",
      "runs of each subject (default 6; 2 in a short run of all parts)",
      positiveWhole,
    )
    .option("--scale <factor>", "factor on all numbers of jobs", positive, 1)
    .option(
      "--minutes <n>",
      "length of a stability run (default 5; 0.15 in a short run of all parts)",
      positive,
    )
    .option("--no-save", "write no results")
    .configureHelp({ showGlobalOptions: true })
    .action(async (part: string | undefined, flags: Flags) => {
      // A known part is a subcommand and does not come here.
      if (part !== undefined) program.error(`error: expected a part (${names}), got "${part}"`);
      await run(parts, optionsOf(flags));
    });
  for (const part of parts) {
    program
      .command(part.name)
      .description(part.summary)
      .allowExcessArguments(false)
      .action(() => run([part], optionsOf(program.opts<Flags>())));
  }
  program
    .command("experiments")
    .description(
      "ways of doing it differently beside the present code; docs/performance.md has what came out",
    )
    .argument("[name]", "one of them")
    .action((name: string | undefined) => runExperiments(name, program.opts<Flags>().repetitions));
  return program;
}
