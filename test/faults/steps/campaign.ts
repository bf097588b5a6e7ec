import { RedisServer } from "../../support/redis-server.ts";
import { Random } from "../random.ts";
import type { Level } from "./crash-points.ts";
import { loadScripts } from "./redis-scripts.ts";
import { type PointsReport, runPoints } from "./run-points.ts";
import { scenarios } from "./scenarios/all.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import type { EngineName } from "./scene.ts";
import { Victim } from "./victim-program.ts";

export interface StepsOptions {
  readonly engine: EngineName;
  /** Chooses the points where not all are run. */
  readonly seed: number;
  /** Points of each scenario at each level. */
  readonly most: number;
  /** Scenarios at a time. Default 1. */
  readonly parallel?: number;
  /** Only scenarios whose name has this in it. */
  readonly only?: string | undefined;
  readonly onScenario?: (scenario: Scenario, report: PointsReport) => void;
}

export interface StepsReport {
  readonly scenarios: number;
  readonly points: number;
  readonly deaths: number;
  /** Such as `Store.publish`: what the scenarios call. */
  readonly calls: ReadonlySet<string>;
  readonly faults: readonly string[];
}

/** Runs the scenarios on a server, or files, of their own. */
export async function runSteps(options: StepsOptions): Promise<StepsReport> {
  const { engine, parallel = 1, only = "", onScenario } = options;
  const server = await RedisServer.start();
  using victim = await Victim.compile();
  const waiting = [...scenarios.values()].filter(({ name }) => name.includes(only));
  const reports: PointsReport[] = [];
  const work = async () => {
    for (let scenario = waiting.shift(); scenario !== undefined; scenario = waiting.shift()) {
      const choose = chooser(scenario, options);
      const report = await runPoints(scenario, { engine, redisUrl: server.url, victim, choose });
      reports.push(report);
      onScenario?.(scenario, report);
    }
  };
  try {
    await loadScripts(server.url);
    await Promise.all(Array.from({ length: parallel }, work));
  } finally {
    await server.stop();
  }
  return {
    scenarios: reports.length,
    points: reports.reduce((sum, { points }) => sum + points, 0),
    deaths: reports.reduce((sum, { deaths }) => sum + deaths, 0),
    calls: new Set(reports.flatMap(({ calls }) => calls)),
    faults: reports.flatMap(({ faults }) => faults),
  };
}

/** Which points a seed chooses does not depend on the other scenarios. */
function chooser({ name }: Scenario, { seed, most }: StepsOptions) {
  const random = new Random(Bun.hash.crc32(`${seed} ${name}`));
  return (points: number, _level: Level): number[] => {
    const left = [...Array(points).keys()];
    if (points <= most) return left;
    return Array.from({ length: most }, () => left.splice(random.int(0, left.length - 1), 1)[0]!);
  };
}
