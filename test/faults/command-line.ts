import { join } from "node:path";
import { Command, InvalidArgumentError, Option } from "commander";
import { type SiteEngine, siteEngines } from "../support/site.ts";
import type { Fault } from "./fault.ts";
import { faultsFor } from "./faults/table.ts";

export interface GivenCampaign {
  readonly engine: SiteEngine;
  readonly faults: readonly Fault[];
  readonly jobs: number;
  readonly strikes: number | undefined;
  readonly seeds: Iterable<number>;
  readonly minutes: number | undefined;
  readonly parallel: number;
  /** Undefined: nothing is kept. */
  readonly out: string | undefined;
}

export interface GivenFacts {
  readonly engine: SiteEngine;
}

export interface GivenPoison {
  readonly engine: SiteEngine;
  readonly jobs: number;
  readonly poison: number;
  readonly seed: number;
}

export interface Actions {
  readonly campaign: (given: GivenCampaign) => Promise<void>;
  readonly facts: (given: GivenFacts) => Promise<void>;
  readonly poison: (given: GivenPoison) => Promise<void>;
  readonly list: () => void;
}

interface Flags {
  readonly engine: SiteEngine;
  readonly faults?: string;
  readonly jobs: number;
  readonly strikes?: number;
  readonly seed?: number;
  readonly seeds?: readonly [number, number];
  readonly minutes?: number;
  readonly parallel: number;
  readonly out?: string;
  readonly keep: boolean;
}

const defaultSeeds = [1, 20] as const;

/** The command line of `npm run faults`; commander ends the process with 1 at what it cannot use. */
export function faultsProgram(actions: Actions): Command {
  const program = new Command("faults")
    .enablePositionalOptions() // those behind a command's name are its own
    .description(
      "Breaks running fleets in every way it knows, by seeds, and accounts for every job afterwards.",
    )
    .addOption(engineOption())
    .option("--faults <names>", "only these, separated by commas (see `list`)")
    .option("--seed <number>", "one seed; replays a run", whole)
    .option(
      "--seeds <from..to>",
      `a range of seeds; default ${defaultSeeds.join("..")}, without end with --minutes`,
      range,
    )
    .option("--jobs <number>", "jobs that each run publishes", positive, 200)
    .option("--strikes <number>", "faults in each run; default by chance, 1 to 4", positive)
    .option("--minutes <number>", "begin no run after this time", positive)
    .option("--parallel <number>", "runs at a time", positive, 1)
    .option(
      "--out <file>",
      "where results are kept, and a campaign is gone on from; default by engine and faults",
    )
    .option("--no-keep", "keep no results")
    .enablePositionalOptions()
    .exitOverride((error) => {
      throw error;
    })
    .action((flags: Flags) => actions.campaign(campaignOf(flags)));
  program
    .command("facts")
    .description("measures how long recovering, resuming and stopping take")
    .addOption(engineOption())
    .action((flags: GivenFacts) => actions.facts(flags));
  program
    .command("poison")
    .description("runs jobs that kill their nodes among innocent ones: exactly they must be archived")
    .addOption(engineOption())
    .option("--jobs <number>", "innocent ones", positive, 10_000)
    .option("--poison <number>", "jobs that kill their nodes", positive, 5)
    .option("--seed <number>", "of what is drawn", whole, 1)
    .action((flags: GivenPoison) => actions.poison(flags));
  program
    .command("list")
    .description("names the faults")
    .action(() => actions.list());
  return program;
}

function engineOption(): Option {
  return new Option("--engine <name>", "redis or sqlite").choices([...siteEngines]).default("redis");
}

function campaignOf(flags: Flags): GivenCampaign {
  if (flags.seed !== undefined && flags.seeds !== undefined)
    throw new Error("expected --seed or --seeds, got both");
  const faults = chosen(flags);
  const names = flags.faults === undefined ? "all" : faults.map(({ name }) => name).join("+");
  const out = flags.out ?? join(import.meta.dir, "results", `${flags.engine}-${names}.json`.slice(0, 120));
  return {
    engine: flags.engine,
    faults,
    jobs: flags.jobs,
    strikes: flags.strikes,
    seeds: seedsOf(flags),
    minutes: flags.minutes,
    parallel: flags.parallel,
    out: flags.keep && flags.seed === undefined ? out : undefined,
  };
}

function chosen({ engine, faults }: Flags): readonly Fault[] {
  const known = faultsFor(engine);
  if (faults === undefined) return known;
  return faults.split(",").map((name) => {
    const found = known.find((fault) => fault.name === name.trim());
    if (found !== undefined) return found;
    const names = known.map((fault) => fault.name).join(", ");
    throw new Error(`--faults: expected some of ${names}; got "${name.trim()}"`);
  });
}

function* seedsOf({ seed, seeds, minutes }: Flags): Generator<number> {
  if (seed !== undefined) return yield seed;
  const endless = [1, Number.MAX_SAFE_INTEGER] as const;
  const [from, to] = seeds ?? (minutes === undefined ? defaultSeeds : endless);
  for (let next = from; next <= to; next++) yield next;
}

function whole(text: string): number {
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new InvalidArgumentError(`expected a whole number, got "${text}"`);
}

function positive(text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && number > 0 && Number.isFinite(number)) return number;
  throw new InvalidArgumentError(`expected a number above 0, got "${text}"`);
}

function range(text: string): readonly [number, number] {
  const [, from, to] = /^(\d{1,15})\.\.(\d{1,15})$/.exec(text) ?? [];
  if (from !== undefined && to !== undefined && Number(from) <= Number(to)) return [Number(from), Number(to)];
  throw new InvalidArgumentError(`expected a range such as 1..100, got "${text}"`);
}
