import { ensurePackages } from "../cli/packages.ts";
import { alternating, type Ratio } from "./alternating.ts";
import { type Experiment, quantities } from "./experiment.ts";

const defaultRounds = 6;

/** Runs one experiment, or all of them, and prints a line for each ratio. @throws Error for a name that none has */
export async function runExperiments(name: string | undefined, rounds = defaultRounds): Promise<void> {
  for (const experiment of await chosen(name)) await runExperiment(experiment, rounds);
}

async function chosen(name: string | undefined): Promise<readonly Experiment[]> {
  ensurePackages();
  const { experiments } = await import("./experiments.ts");
  if (name === undefined) return experiments;
  const found = experiments.find((each) => each.name === name);
  if (found !== undefined) return [found];
  throw new Error(
    `expected an experiment (${experiments.map((each) => each.name).join(", ")}), got "${name}"`,
  );
}

async function runExperiment({ name, summary, run }: Experiment, rounds: number): Promise<void> {
  console.log(`\n${name}: ${summary}`);
  await run(async (comparison) => {
    for (const ratio of await alternating(comparison, rounds)) console.log(line(ratio));
  }, console.log);
}

function line({ at, quantity, way, present, other, ratio }: Ratio): string {
  const { text } = quantities[quantity];
  const values = `${rounded(present)} -> ${rounded(other)}`;
  return `  ${at}; ${text}: ${way} ${values}, ratio ${rounded(ratio.min)} / ${rounded(ratio.median)} / ${rounded(ratio.max)}`;
}

/** Three digits that count. */
function rounded(value: number): string {
  return value >= 1000 ? Math.round(value).toLocaleString("en") : String(Number(value.toPrecision(3)));
}
