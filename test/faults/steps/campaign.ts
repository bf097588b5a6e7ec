import { RedisServer } from "../../support/redis-server.ts";
import { Random } from "../random.ts";
import { loadScripts } from "./redis-scripts.ts";
import { dieAt, type Rehearsal, rehearse } from "./run-points.ts";
import { scenarios } from "./scenarios/all.ts";
import type { EngineName } from "./scene.ts";
import { Victim } from "./victim-program.ts";

export interface StepsOptions {
  readonly engine: EngineName;
  /** Chooses the points where not all are run. */
  readonly seed: number;
  /** Points of each scenario. Default: all. */
  readonly most?: number;
  /** Scenarios at a time. Default 1. */
  readonly parallel?: number;
  /** Only scenarios whose name has this in it. */
  readonly only?: string | undefined;
  readonly onScenario?: (rehearsal: Rehearsal, result: ScenarioResult) => void;
}

export interface ScenarioResult {
  /** Each of which was recovered from and checked. */
  readonly deaths: number;
  readonly faults: readonly string[];
}

export interface StepsReport extends ScenarioResult {
  readonly scenarios: number;
  readonly points: number;
  /** Such as `Store.publish`: what the scenarios call. */
  readonly calls: ReadonlySet<string>;
}

/** Runs the scenarios on a server, or files, of their own. */
export async function runSteps(options: StepsOptions): Promise<StepsReport> {
  const { engine, parallel = 1, only = "", onScenario } = options;
  const server = await RedisServer.start();
  using victim = await Victim.compile();
  const parts = { engine, redisUrl: server.url, victim };
  try {
    await loadScripts(server.url);
    const chosen = [...scenarios.values()].filter(({ name }) => name.includes(only));
    const rehearsals = await rehearse(chosen, parts);
    const waiting = [...rehearsals];
    const results: ScenarioResult[] = [];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const result = { deaths: 0, faults: [...next.faults] };
        for (const death of chosenPoints(next, options)) {
          result.faults.push(...(await dieAt(next.scenario, death, parts)));
          result.deaths += 1;
        }
        results.push(result);
        onScenario?.(next, result);
      }
    };
    await Promise.all(Array.from({ length: parallel }, work));
    return {
      scenarios: rehearsals.length,
      points: rehearsals.reduce((sum, { points }) => sum + points.length, 0),
      deaths: results.reduce((sum, { deaths }) => sum + deaths, 0),
      calls: new Set(rehearsals.flatMap(({ calls }) => calls)),
      faults: results.flatMap(({ faults }) => faults),
    };
  } finally {
    await server.stop();
  }
}

/** Which points a seed chooses does not depend on the other scenarios. */
function chosenPoints({ scenario, points }: Rehearsal, { seed, most = Infinity }: StepsOptions) {
  if (points.length <= most) return points;
  const random = new Random(Bun.hash.crc32(`${seed} ${scenario.name}`));
  const left = [...points];
  return Array.from({ length: most }, () => left.splice(random.int(0, left.length - 1), 1)[0]!);
}
