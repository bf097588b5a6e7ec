/**
 * `npm run bench`: measures solid-jobs beside its peers on this machine, prints a table with the targets, and
 * writes everything measured into `bench/results/`. Exits 1 when a run fails: a job that did not run, or ran
 * twice, is a failure. A missed target is not.
 *
 *     npm run bench -- [--only throughput,memory] [--repetitions 5] [--scale 1] [--no-save]
 */
import { parseArgs } from "node:util";
import { ensureRedisServer } from "../test/support/redis-command.ts";
import { latency } from "./measures/latency.ts";
import { lateness } from "./measures/lateness.ts";
import type { Knobs, Measure, Outcome } from "./measures/measure.ts";
import { memory } from "./measures/memory.ts";
import { publishing } from "./measures/publishing.ts";
import { throughput } from "./measures/throughput.ts";
import { thisMachine, versions } from "./support/machine.ts";
import { ensurePackages } from "./support/packages.ts";
import { save, table } from "./support/report.ts";
import { Stage } from "./support/stage.ts";

const measures: readonly Measure[] = [throughput, memory, latency, lateness, publishing];

interface Options extends Knobs {
  readonly chosen: readonly Measure[];
  readonly isSaved: boolean;
}

/** @throws Error for an option that cannot be used */
function options(): Options {
  const { values } = parseArgs({
    args: Bun.argv.slice(2),
    options: {
      only: { type: "string", default: measures.map(({ name }) => name).join() },
      repetitions: { type: "string", default: "5" },
      scale: { type: "string", default: "1" },
      "no-save": { type: "boolean", default: false },
    },
  });
  const chosen = values.only.split(",").map((name) => measureNamed(name.trim()));
  const repetitions = positive("repetitions", values.repetitions);
  return {
    chosen,
    repetitions: Math.ceil(repetitions),
    scale: positive("scale", values.scale),
    isSaved: !values["no-save"],
  };
}

function measureNamed(name: string): Measure {
  const found = measures.find((measure) => measure.name === name);
  if (found !== undefined) return found;
  throw new Error(`--only: expected ${measures.map((each) => each.name).join(", ")}, got "${name}"`);
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`--${option}: expected a number above 0, got "${text}"`);
}

async function bench({ chosen, repetitions, scale, isSaved }: Options): Promise<void> {
  ensurePackages();
  ensureRedisServer();
  const stage = await Stage.open();
  try {
    const facts = {
      date: new Date().toISOString(),
      machine: thisMachine(),
      versions: versions(await stage.redisVersion()),
      knobs: { repetitions, scale },
    };
    console.log(JSON.stringify(facts, null, 2));
    const outcomes = new Map<string, Outcome>();
    for (const measure of chosen) {
      console.log(`\n${measure.name}`);
      outcomes.set(
        measure.name,
        await measure.run(stage, { repetitions, scale }, (line) => console.log(`  ${line}`)),
      );
    }
    const rows = [...outcomes.values()].flatMap((outcome) => outcome.rows);
    console.log(`\n${table(rows)}`);
    if (!isSaved) return;
    const data = Object.fromEntries([...outcomes].map(([name, outcome]) => [name, outcome.data]));
    console.log(`\nwritten: bench/results/${await save({ ...facts, ...{ rows, data } })}`);
  } finally {
    await stage.close();
  }
}

try {
  await bench(options());
} catch (error) {
  console.error(`bench: ${(error as Error).message}`);
  process.exitCode = 1;
}
