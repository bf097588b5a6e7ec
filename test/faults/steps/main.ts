/** Lets processes die at the steps of every scenario; see README.md here. */
import { Command, Option } from "commander";
import { ensureRedisServer } from "../../support/redis-command.ts";
import { runSteps } from "./campaign.ts";
import type { EngineName } from "./scene.ts";

interface Flags {
  readonly engine: EngineName;
  readonly seed: string;
  readonly most: string;
  readonly parallel: string;
  readonly only?: string;
}

const program = new Command("steps")
  .addOption(new Option("--engine <name>", "redis or sqlite").choices(["redis", "sqlite"]).default("redis"))
  .option("--seed <number>", "chooses the points where not all are run", "1")
  .option("--most <number>", "points of each scenario, at most", "Infinity")
  .option("--parallel <number>", "scenarios at a time", "1")
  .option("--only <text>", "only scenarios whose name has this in it")
  .parse();
const { engine, seed, most, parallel, only } = program.opts<Flags>();

ensureRedisServer();
const report = await runSteps({
  engine,
  seed: Number(seed),
  most: Number(most),
  parallel: Number(parallel),
  only,
  onScenario: ({ scenario, points }, { deaths, faults }) => {
    console.log(`${scenario.name}: ${deaths} deaths at ${points.length} points, ${faults.length} faults`);
    for (const fault of faults) console.log(`  ${fault}`);
  },
});
const { scenarios, points, deaths, faults } = report;
console.log(
  `${engine}: ${scenarios} scenarios, ${deaths} deaths at ${points} points, ${faults.length} faults`,
);
if (faults.length > 0) process.exitCode = 1;
