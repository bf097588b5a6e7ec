/** `npm run soak`: see ../README.md. */
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { ensureRedisServer } from "../../support/redis-command.ts";
import { type SiteEngine, siteEngines } from "../../support/site.ts";
import type { Sample } from "./samples.ts";
import { soak } from "./soak.ts";

function positive(text: string): number {
  const number = Number(text);
  if (text.trim() !== "" && number > 0 && Number.isFinite(number)) return number;
  throw new InvalidArgumentError(`expected a number above 0, got "${text}"`);
}

const program = new Command("soak")
  .description(
    "A node of four workers under mixed jobs for a long time: speed, memory, and an account of every job.",
  )
  .addOption(new Option("--engine <name>", "redis or sqlite").choices([...siteEngines]).default("redis"))
  .option("--minutes <number>", "how long", positive, 30)
  .exitOverride((error) => {
    throw error;
  })
  .action(run);

async function run({ engine, minutes }: { engine: SiteEngine; minutes: number }): Promise<void> {
  if (engine === "redis") ensureRedisServer();
  const result = await soak({ engine, minutes, onSample: (sample) => console.log(lineOf(sample)) });
  console.log(JSON.stringify({ engine, minutes, ...result }, null, 2));
  if (result.problems.length > 0) process.exitCode = 1;
}

function lineOf({ seconds, jobsPerSecond, rssMiB, redisMiB, queued }: Sample): string {
  const redis = redisMiB === undefined ? "" : `, Redis ${redisMiB.toFixed(1)} MiB`;
  return `${seconds} s: ${jobsPerSecond} jobs/s, RSS ${rssMiB.toFixed(1)} MiB${redis}, queue ${queued}`;
}

try {
  await program.parseAsync();
} catch (error) {
  if (!(error instanceof CommanderError)) console.error(`npm run soak: ${(error as Error).message}`);
  process.exitCode = error instanceof CommanderError && error.exitCode === 0 ? 0 : 1;
}
