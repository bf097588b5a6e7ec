/** Random steps against a store and its model, for as long as is asked for; see README.md here. */
import { Command, Option } from "commander";
import { ensureRedisServer } from "../../support/redis-command.ts";
import type { EngineName } from "../steps/scene.ts";
import { runModel, withGround } from "./run-model.ts";

interface Flags {
  readonly engine: EngineName;
  readonly seed: string;
  readonly runs: string;
  readonly steps: string;
  readonly minutes: string;
  readonly path?: string;
  readonly replayPath?: string;
}

/** Runs of one seed. */
const runsOfSeed = 100;

const program = new Command("model")
  .addOption(new Option("--engine <name>", "redis or sqlite").choices(["redis", "sqlite"]).default("redis"))
  .option("--seed <number>", "the first one; each is good for 100 runs", "1")
  .option("--runs <number>", "runs in all", "1000")
  .option("--steps <number>", "steps of a run, at most", "80")
  .option("--minutes <number>", "begin no further seed after this time", "Infinity")
  .option("--path <path>", "from the report of a failure")
  .option("--replay-path <path>", "from the report of a failure")
  .parse();
const { engine, path, replayPath, ...texts } = program.opts<Flags>();
const [seed, runs, steps, minutes] = [texts.seed, texts.runs, texts.steps, texts.minutes].map(Number) as [
  number,
  number,
  number,
  number,
];

ensureRedisServer();
const endsAt = performance.now() + minutes * 60_000;
const total = { runs: 0, failures: 0 };
const taken = new Map<string, number>();
await withGround(engine, async (ground) => {
  for (let next = seed; total.runs < runs && performance.now() < endsAt; next++) {
    const asked = Math.min(runsOfSeed, runs - total.runs);
    const report = await runModel(ground, { engine, seed: next, runs: asked, steps, path, replayPath });
    total.runs += report.runs;
    for (const [kind, count] of report.steps) taken.set(kind, (taken.get(kind) ?? 0) + count);
    if (report.failure === undefined) continue;
    total.failures += 1;
    console.log(`seed ${next}: ${report.failure}`);
    console.log(
      `replay: --engine ${engine} --seed ${next} --steps ${steps}, with the path and the replay path above`,
    );
    if (path !== undefined) break;
  }
});
for (const [kind, count] of [...taken].toSorted(([, a], [, b]) => b - a)) console.log(`  ${kind}: ${count}`);
const { runs: made, failures } = total;
console.log(`${engine}: ${made} runs, ${failures} failures, seeds from ${seed}`);
if (failures > 0) process.exitCode = 1;
