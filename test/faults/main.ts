/** `npm run faults`: see README.md in this folder. */
import { CommanderError } from "commander";
import { ensureRedisServer } from "../support/redis-command.ts";
import { runCampaign } from "./campaign.ts";
import { faultsProgram, type GivenCampaign, type GivenFacts, type GivenPoison } from "./command-line.ts";
import { factText, measureFacts } from "./facts/facts.ts";
import { allFaults } from "./faults/table.ts";
import { poisonText, runPoison } from "./poison.ts";
import { ResultsFile } from "./results-file.ts";
import type { RunResult } from "./run.ts";
import { totalsOf, totalsText } from "./totals.ts";

async function campaign(given: GivenCampaign): Promise<void> {
  const { engine, faults, jobs, strikes, out } = given;
  if (engine === "redis") ensureRedisServer();
  for (const fault of faults) {
    const reason = fault.reasonAgainst?.();
    if (reason !== undefined) console.log(`left out: ${fault.name}, which ${reason}`);
  }
  const names = faults.map(({ name }) => name);
  const file = out === undefined ? undefined : new ResultsFile(out, { engine, faults: names, jobs, strikes });
  const results = await runCampaign({ ...given, file, onResult: (result) => tell(result, given) });
  const all = file?.results ?? results;
  console.log(`\n${totalsText(totalsOf(all))}`);
  if (file !== undefined) console.log(`results: ${file.path}`);
  if (totalsOf(results).failed.length > 0) process.exitCode = 1;
}

function tell(result: RunResult, { engine, faults, jobs, strikes }: GivenCampaign): void {
  const { seed, tookMs, rounds, executed, hits, problems, dump } = result;
  const done = rounds.map((round) => round.join(" & ")).join(", ");
  const outcome = problems.length === 0 ? "sound" : "FAILED";
  console.log(
    `seed ${seed}: ${outcome}, ${executed} jobs, ${hits} claims hit, ${(tookMs / 1000).toFixed(1)} s: ${done}`,
  );
  if (problems.length === 0) return;
  for (const problem of problems.slice(0, 20)) console.log(`  ${problem}`);
  if (problems.length > 20) console.log(`  and ${problems.length - 20} more`);
  const isAll = faults.length === allFaults.filter(({ engines }) => engines.includes(engine)).length;
  const chosen = isAll ? "" : ` --faults ${faults.map(({ name }) => name).join(",")}`;
  const counted = strikes === undefined ? "" : ` --strikes ${strikes}`;
  console.log(
    `  replay: npm run faults -- --engine ${engine} --seed ${seed} --jobs ${jobs}${chosen}${counted}`,
  );
  if (faults.length > 0 && process.env["FAULTS_DUMP"] !== undefined) console.log(dump);
}

async function facts({ engine }: GivenFacts): Promise<void> {
  if (engine === "redis") ensureRedisServer();
  await measureFacts(engine, (result) => console.log(factText(result)));
}

async function poison(given: GivenPoison): Promise<void> {
  if (given.engine === "redis") ensureRedisServer();
  const result = await runPoison(given);
  console.log(poisonText(result));
  if (result.problems.length > 0) process.exitCode = 1;
}

function list(): void {
  for (const { name, does, engines, reasonAgainst } of allFaults) {
    const reason = reasonAgainst?.();
    console.log(
      `${name.padEnd(20)} ${engines.join(", ").padEnd(14)} ${does}${reason ? ` (not here: ${reason})` : ""}`,
    );
  }
}

try {
  await faultsProgram({ campaign, facts, poison, list }).parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) console.error(`npm run faults: ${(error as Error).message}`);
  process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 1;
}
