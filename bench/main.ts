/**
 * `npm run bench`: measures solid-jobs beside its peers on this machine, prints a table with the targets, and
 * writes everything measured into `bench/results/`. Exits 1 when a run fails: a job that did not run, or ran
 * twice, is a failure. A missed target is not.
 *
 *     npm run bench -- [redis|embedded] [--only throughput,memory] [--repetitions 5] [--scale 1] [--no-save]
 */
import { parseArgs } from "node:util";
import type { Knobs, Measure, Outcome } from "./measures/measure.ts";
import { embeddedSuite, redisSuite, type Suite } from "./suites.ts";
import { thisMachine } from "./support/machine.ts";
import { ensurePackages } from "./support/packages.ts";
import { save, table } from "./support/report.ts";

interface Options extends Knobs {
  readonly suite: string;
  /** Names of measures; all without it. */
  readonly only: string | undefined;
  readonly isSaved: boolean;
}

/** @throws Error for an option that cannot be used */
function options(): Options {
  const { values, positionals } = parseArgs({
    args: Bun.argv.slice(2),
    allowPositionals: true,
    options: {
      only: { type: "string" },
      repetitions: { type: "string", default: "5" },
      scale: { type: "string", default: "1" },
      "no-save": { type: "boolean", default: false },
    },
  });
  const [suite = redisSuite.name, ...rest] = positionals;
  if (rest.length > 0) throw new Error(`expected one suite, got "${positionals.join(" ")}"`);
  return {
    suite,
    only: values.only,
    repetitions: Math.ceil(positive("repetitions", values.repetitions)),
    scale: positive("scale", values.scale),
    isSaved: !values["no-save"],
  };
}

function positive(option: string, text: string): number {
  const value = Number(text);
  if (value > 0 && Number.isFinite(value)) return value;
  throw new Error(`--${option}: expected a number above 0, got "${text}"`);
}

function chosen<S>(measures: readonly Measure<S>[], only: string | undefined): readonly Measure<S>[] {
  if (only === undefined) return measures;
  return only.split(",").map((name) => {
    const found = measures.find((measure) => measure.name === name.trim());
    if (found !== undefined) return found;
    throw new Error(`--only: expected ${measures.map((each) => each.name).join(", ")}, got "${name.trim()}"`);
  });
}

function bench(given: Options): Promise<void> {
  if (given.suite === redisSuite.name) return benchSuite(redisSuite, given);
  if (given.suite === embeddedSuite.name) return benchSuite(embeddedSuite, given);
  throw new Error(`expected the suite ${redisSuite.name} or ${embeddedSuite.name}, got "${given.suite}"`);
}

async function benchSuite<S extends { close(): Promise<void> }>(
  suite: Suite<S>,
  { only, repetitions, scale, isSaved }: Options,
): Promise<void> {
  const measures = chosen(suite.measures, only);
  ensurePackages();
  const stage = await suite.open();
  try {
    const facts = {
      ...{ suite: suite.name, date: new Date().toISOString(), machine: thisMachine() },
      ...{ versions: await suite.facts(stage), knobs: { repetitions, scale } },
    };
    console.log(JSON.stringify(facts, null, 2));
    const outcomes = new Map<string, Outcome>();
    for (const measure of measures) {
      console.log(`\n${measure.name}`);
      const log = (line: string) => console.log(`  ${line}`);
      outcomes.set(measure.name, await measure.run(stage, { repetitions, scale }, log));
    }
    const rows = [...outcomes.values()].flatMap((outcome) => outcome.rows);
    console.log(`\n${table(rows)}`);
    if (!isSaved) return;
    const data = Object.fromEntries([...outcomes].map(([name, outcome]) => [name, outcome.data]));
    console.log(`\nwritten: bench/results/${await save(suite.name, { ...facts, ...{ rows, data } })}`);
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
