import type { IntegrityReport } from "../../src/index.ts";
import { drained } from "./drained.ts";
import type { Evidence } from "./evidence.ts";
import type { Fault } from "./fault.ts";
import { aftermathMs } from "./fault.ts";
import type { RunPlan } from "./plan.ts";
import { reconcile, type Verdict } from "./reconcile.ts";
import type { Strike } from "./strike.ts";
import { World } from "./world/world.ts";

/** Kinds of misbehaviour after which the job's thread is gone. */
const threadEnding = new Set(["process-exit", "thread-crash", "endless-loop", "process-abort", "memory-hog"]);
/** Kinds that take the process along. */
const nodeEnding = new Set(["process-abort", "memory-hog"]);

const drainMs = 60_000;
/** No run takes longer; one that hangs is told with its seed. */
const longestRunMs = 300_000;

interface Stop {
  /** Epoch ms. */
  readonly stoppedAt: number;
  readonly codes: readonly number[];
}

/** What came of one seed. */
export interface RunResult extends Verdict {
  readonly seed: number;
  readonly tookMs: number;
  /** The names of what was done, in rounds. */
  readonly rounds: readonly (readonly string[])[];
  /** What the nodes logged last; only when there are problems. */
  readonly dump?: string;
}

/**
 * One run: a fleet with a store of its own works while faults strike it in rounds; when all is published and
 * done, the nodes stop, and everything is compared. Never rejects: what goes wrong is a problem of the result.
 */
export async function runPlan(plan: RunPlan): Promise<RunResult> {
  const startedAt = performance.now();
  const rounds = plan.rounds.map((round) => round.map(({ name }) => name));
  const verdict = await verdictOf(plan);
  return { seed: plan.seed, tookMs: Math.round(performance.now() - startedAt), rounds, ...verdict };
}

async function verdictOf(plan: RunPlan): Promise<Verdict & { dump?: string }> {
  let world: World | undefined;
  try {
    world = await World.open(plan);
    await within(longestRunMs, work(world, plan));
    const stoppedAt = Date.now();
    const codes = await world.fleet.stop();
    const verdict = reconcile(await evidenceOf(world, plan));
    const problems = [...verdict.problems, ...world.problems, ...strangeExits(world, { codes, stoppedAt })];
    return problems.length === 0 ? verdict : { ...verdict, problems, dump: world.fleet.dump() };
  } catch (error) {
    const text = error instanceof Error ? (error.stack ?? error.message) : String(error);
    return {
      ...nothing,
      problems: [`the run broke off: ${text}`, ...(world?.problems ?? [])],
      dump: world?.fleet.dump() ?? "",
    };
  } finally {
    await world?.close();
  }
}

/** @throws Error after the time */
async function within(ms: number, working: Promise<void>): Promise<void> {
  const timeout = Promise.withResolvers<never>();
  const timer = setTimeout(() => timeout.reject(new Error(`it hung for ${ms / 1000} s`)), ms);
  try {
    await Promise.race([working, timeout.promise]);
  } finally {
    clearTimeout(timer);
  }
}

async function work(world: World, { seed, jobs, overMs, rounds, random }: RunPlan): Promise<void> {
  const published = world.publisher({ seed, jobs, overMs });
  for (const round of rounds) {
    await Bun.sleep(random.int(20, 200));
    await Promise.all(round.map((fault: Fault) => fault.strike(world, random.fork())));
  }
  await published;
  await drained(world, drainMs);
}

async function evidenceOf(world: World, { rounds }: RunPlan): Promise<Evidence> {
  const { ledger, fleet } = world.refreshed();
  const exits = new Map(fleet.exits.map(({ node, at }) => [node, at]));
  for (const run of ledger.runs) {
    if (run.endedAt !== undefined) continue;
    const deaths = ledger.mischief.filter(
      ({ kind, node, thread, at }) =>
        node === run.node &&
        (thread === run.thread || nodeEnding.has(kind)) &&
        threadEnding.has(kind) &&
        at >= run.beganAt,
    );
    run.cutAt = Math.min(exits.get(run.node) ?? Number.POSITIVE_INFINITY, ...deaths.map(({ at }) => at));
  }
  const { runs, publications, mischief } = ledger;
  const byJobs = mischief.map(
    ({ kind, node, at }): Strike => ({ fault: kind, at, until: at, scope: [node] }),
  );
  const confirmed = publications.filter(({ what }) => what === "confirmed").flatMap(({ ids }) => ids);
  const history = await world.historian.read();
  return {
    runs,
    publications,
    history,
    integrity: await checked(
      world,
      confirmed,
      runs.filter(({ isDone }) => isDone).map(({ id }) => id),
    ),
    strikes: [...world.strikes, ...byJobs],
    harmless: new Set(
      rounds
        .flat()
        .flatMap(({ name, harmlessOn }) => (harmlessOn?.includes(world.engine) === true ? [name] : [])),
    ),
    exits,
  };
}

async function checked(world: World, expectedIds: string[], ackedIds: string[]): Promise<IntegrityReport> {
  const catalog = world.catalog();
  try {
    return await catalog.integrityCheck({ expectedIds, ackedIds });
  } finally {
    await catalog.close();
  }
}

/** Processes that ended and no fault explains it, and stops that were not clean: 1 says that the store was silent. */
function strangeExits({ fleet, strikes, endings, ledger }: World, { codes, stoppedAt }: Stop): string[] {
  const isStoreStruck = (at: number) =>
    strikes.some(({ scope, at: from, until }) => scope === "all" && at >= from && at <= until + aftermathMs);
  const strange = fleet.exits.filter(({ node, at, code, wasExpected }) => {
    if (wasExpected || (code === 1 && isStoreStruck(at))) return false;
    if (endings.some(({ from, until }) => at >= from && at <= until)) return false;
    return !ledger.mischief.some((line) => line.node === node && nodeEnding.has(line.kind));
  });
  return [
    ...strange.map(({ node, code }) => `${node} ended by itself with ${code}`),
    ...codes
      .filter((code) => code !== 0 && !(code === 1 && isStoreStruck(stoppedAt)))
      .map((code) => `a node stopped with ${code} at the end`),
  ];
}

const nothing: Verdict = {
  published: 0,
  unconfirmed: 0,
  refused: {},
  executed: 0,
  executedMoreThanOnce: 0,
  causes: {},
  slowestMs: {},
  archived: 0,
  stillStored: 0,
  rolledBack: 0,
  lost: 0,
  settledStale: 0,
  faults: {},
  hits: 0,
  missed: 0,
  lostReplies: {},
  problems: [],
};
