import { thisMachine, versionsOf } from "../method/machine.ts";
import type { Options } from "../method/options.ts";
import { RedisPlace } from "../method/redis-place.ts";
import type { Part } from "../parts/part.ts";
import type { Facts, Results } from "../report/facts.ts";
import { save } from "../report/save.ts";
import { summariesOf } from "../report/summaries.ts";
import { terminalReport } from "../report/terminal.ts";
import type { System } from "../systems/system.ts";
import { systems } from "../systems/systems.ts";
import { BenchRun } from "./bench-run.ts";
import { ensurePackages } from "./packages.ts";
import { openProgress, type Progress } from "./progress.ts";

/** Measures the parts one after the other, prints what they come to, and writes it down after each. */
export async function runParts(parts: readonly Part[], options: Options): Promise<void> {
  ensurePackages();
  const [present, absences] = presentSystems(options);
  const redis = await RedisPlace.open();
  const progress = await openProgress(process.stdout.isTTY === true);
  const isWhole = parts.length > 1;
  const bench = new BenchRun({ options, isWhole, systems: present, redis, progress });
  try {
    const facts = factsOf(bench, { parts, redisVersion: await redis.version() });
    console.log(JSON.stringify(facts, null, 2));
    for (const line of absences) bench.note(line);
    let folder = "";
    for (const part of parts) {
      await runPart(part, bench, progress);
      if (options.isSaved) folder = await save(resultsOf(bench, facts));
    }
    progress.end();
    console.log(terminalReport(resultsOf(bench, facts)));
    if (options.isSaved) console.log(`\nwritten: ${folder}`);
    if (bench.runs.some(({ problem }) => problem !== undefined)) process.exitCode = 1;
  } finally {
    progress.end();
    await redis.close();
  }
}

/** A part that cannot go on does not keep the others from being measured. */
async function runPart(part: Part, bench: BenchRun, progress: Progress): Promise<void> {
  progress.begin(part.name);
  progress.line(`\n${part.name}: ${part.summary}`);
  const startMs = performance.now();
  try {
    await part.run(bench);
  } catch (error) {
    process.exitCode = 1;
    bench.note(`${part.name} ended early: ${(error as Error).message}`);
  }
  progress.line(`  ${part.name} took ${Math.round((performance.now() - startMs) / 1000)} s`);
}

function resultsOf({ runs, notes }: BenchRun, facts: Facts): Results {
  return { facts, runs, summaries: summariesOf(runs), notes };
}

function presentSystems(options: Options): [System[], string[]] {
  const chosen = systems.filter(({ name }) => options.systems?.includes(name) ?? true);
  const present = chosen.filter((system) => system.absence() === undefined);
  const absent = chosen.filter((system) => !present.includes(system));
  return [present, absent.map((system) => `${system.name} is left out: ${system.absence()}`)];
}

function factsOf(
  { options, isQuick, repetitions, systems }: BenchRun,
  { parts, redisVersion }: { parts: readonly Part[]; redisVersion: string },
): Facts {
  return {
    date: new Date().toISOString(),
    machine: thisMachine(),
    versions: { ...versionsOf(systems), redis: redisVersion },
    knobs: { full: options.isFull, quick: isQuick, repetitions, scale: options.scale },
    systems: systems.map(({ name, role, engine, keepsJobs }) => ({ name, role, engine, keepsJobs })),
    parts: parts.map(({ name, summary }) => ({ name, summary })),
  };
}
