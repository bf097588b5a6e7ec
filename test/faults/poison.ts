import type { Catalog } from "../../src/catalog/catalog.ts";
import type { SiteEngine } from "../support/site.ts";
import { drained } from "./drained.ts";
import { kindOf } from "./jobs/kinds.ts";
import { Random } from "./random.ts";
import type { SeatSetup } from "./world/fleet.ts";
import { World } from "./world/world.ts";

export interface PoisonPlan {
  readonly engine: SiteEngine;
  /** Innocent ones. */
  readonly jobs: number;
  /** Jobs that take their process along each time. */
  readonly poison: number;
  readonly seed: number;
}

export interface PoisonResult extends PoisonPlan {
  /** Deaths of nodes. */
  readonly deaths: number;
  readonly archived: number;
  /** Innocent jobs that ran more than once, for the deaths around them. */
  readonly innocentsAgain: number;
  readonly tookMs: number;
  /** What is wrong, in words. */
  readonly problems: readonly string[];
}

/** The default of the setting. */
const maxCrashes = 3;
const batch = 500;
const drainMs = 600_000;

const seat: SeatSetup = {
  args: ["-c", "2", "-s", "5", "-t", "5", "--channel", "default"],
  env: { NODE_ENV: "development", SOLID_JOBS_TTL: "1" },
  wrapper: [],
};

/** Poison among innocent jobs, on two nodes that are started again whenever they die of it. */
export async function runPoison(plan: PoisonPlan): Promise<PoisonResult> {
  const startedAt = performance.now();
  const random = new Random(plan.seed);
  const world = await World.open({ engine: plan.engine, needs: {}, seats: [seat, seat], random });
  try {
    const published = await publish(world, plan, random);
    const catalog = world.catalog();
    try {
      await drained(world, drainMs);
      const { deaths, problems } = await endedFleet(world);
      const archived = await archivedIds(catalog);
      const { isSound, ...report } = await catalog.integrityCheck({
        expectedIds: [...published.innocent, ...published.poison],
        ackedIds: published.innocent,
      });
      const runs = Map.groupBy(world.refreshed().ledger.runs, ({ id }) => id);
      if (!isSound) problems.push(`the integrity check: ${JSON.stringify({ lost: report.lost })}`);
      problems.push(...misjudged(published, { archived, runs, deaths }));
      const innocentsAgain = published.innocent.filter((id) => (runs.get(id)?.length ?? 0) > 1).length;
      const tookMs = Math.round(performance.now() - startedAt);
      return { ...plan, deaths, archived: archived.length, innocentsAgain, tookMs, problems };
    } finally {
      await catalog.close();
    }
  } finally {
    await world.close();
  }
}

/** For people. */
export function poisonText({ engine, tookMs, problems, ...found }: PoisonResult): string {
  const { poison, jobs, deaths, archived, innocentsAgain } = found;
  const outcome = problems.length === 0 ? "sound" : "FAILED";
  const first = `${engine}: ${outcome}, ${poison} poison jobs among ${jobs}: ${archived} archived, nodes died ${deaths} times, ${innocentsAgain} innocent jobs ran more than once, ${(tookMs / 1000).toFixed(1)} s`;
  return [first, ...problems.slice(0, 20).map((problem) => `  ${problem}`)].join("\n");
}

interface Published {
  readonly innocent: string[];
  readonly poison: string[];
}

/** The poison lies at places by chance. */
async function publish(world: World, { jobs, poison }: PoisonPlan, random: Random): Promise<Published> {
  const published: Published = { innocent: [], poison: [] };
  const batches = Math.ceil(jobs / batch);
  const places = Array.from({ length: poison }, () => random.int(0, batches - 1));
  for (let at = 0; at < batches; at++) {
    const count = Math.min(batch, jobs - at * batch);
    published.innocent.push(...(await world.publish("sleeping", count)));
    const here = places.filter((place) => place === at).length;
    if (here > 0) published.poison.push(...(await world.publish("poison", here)));
  }
  return published;
}

async function endedFleet({ fleet }: World): Promise<{ deaths: number; problems: string[] }> {
  const deaths = fleet.exits.length;
  const codes = await fleet.stop();
  const bad = codes.filter((code) => code !== 0);
  return { deaths, problems: bad.map((code) => `a node stopped with ${code} at the end`) };
}

async function archivedIds(catalog: Catalog): Promise<string[]> {
  const ids: string[] = [];
  for await (const { id = "", envelope } of catalog.discarded.entries()) {
    ids.push(envelope?.exceptionType === "PoisonJob" ? id : `${id}, of ${envelope?.exceptionType}`);
  }
  return ids;
}

function misjudged(
  { poison, innocent }: Published,
  {
    archived,
    runs,
    deaths,
  }: {
    archived: readonly string[];
    runs: ReadonlyMap<string, readonly { isDone?: boolean; key: string }[]>;
    deaths: number;
  },
): string[] {
  const known = new Set(poison);
  const notDone = innocent.filter((id) => runs.get(id)?.some(({ isDone }) => isDone) !== true);
  const often = poison.filter((id) => (runs.get(id)?.length ?? 0) > maxCrashes);
  const strange = [...runs.values()].flat().filter(({ key, isDone }) => {
    return kindOf(key).name === "poison" && isDone !== undefined;
  });
  return [
    ...archived.filter((id) => !known.has(id)).map((id) => `ARCHIVED, and no poison: ${id}`),
    ...poison.filter((id) => !archived.includes(id)).map((id) => `POISON NOT ARCHIVED: ${id}`),
    ...notDone.map((id) => `NOT DONE: ${id}`),
    ...often.map(
      (id) => `POISON RAN ${runs.get(id)?.length ?? 0} TIMES, expected ${maxCrashes} at most: ${id}`,
    ),
    ...strange.map(({ key }) => `POISON ENDED WITHOUT A DEATH: ${key}`),
    ...(deaths > poison.length * maxCrashes
      ? [`nodes died ${deaths} times for ${poison.length} poison jobs`]
      : []),
  ];
}
