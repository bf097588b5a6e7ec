import { join } from "node:path";
import { randomHex } from "../../../src/foundation/ids.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import { afterwards } from "./afterwards.ts";
import type { Level } from "./crash-points.ts";
import { Ledger, type Line } from "./ledger.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import { type Address, closePlace, type EngineName, openPlace, type Scene } from "./scene.ts";
import type { Victim } from "./victim-program.ts";

export interface PointsOptions {
  readonly engine: EngineName;
  readonly redisUrl: string;
  readonly victim: Victim;
  /** Which of so many points of a level are run. Default: all. */
  readonly choose?: ((points: number, level: Level) => Iterable<number>) | undefined;
}

export interface PointsReport {
  /** How many there are. */
  readonly points: number;
  /** Deaths, each of which was recovered from and checked. */
  readonly deaths: number;
  /** Such as `Store.publish`: what the process calls from its first point to its end. */
  readonly calls: readonly string[];
  /** With the point at which the process had died; empty when all is well. */
  readonly faults: readonly string[];
}

/** Lets a process take the steps of a scenario once to the end, then again for each point, where it dies. */
export async function runPoints(scenario: Scenario, options: PointsOptions): Promise<PointsReport> {
  const { choose = (points) => Array(points).keys() } = options;
  const whole = await runPoint(scenario, { level: "calls", at: -1 }, options);
  const end = whole.lines.find((line) => line.kind === "end");
  if (end === undefined) throw new Error(`${scenario.name}: the process came to no end, see its output`);
  const faults = whole.faults.map((fault) => `${scenario.name}, without a death: ${fault}`);
  let deaths = 0;
  for (const level of ["calls", "commands"] as const) {
    for (const at of choose(end.points[level] ?? 0, level)) {
      const { lines, faults: found } = await runPoint(scenario, { level, at }, options);
      const death = lines.find((line) => line.kind === "death");
      if (death === undefined) throw new Error(`${scenario.name}: no death at point ${at} of its ${level}`);
      const where = `${scenario.name}, ${death.when} ${death.point} (${level}, point ${at})`;
      faults.push(...found.map((fault) => `${where}: ${fault}`));
      deaths += 1;
    }
  }
  const points = Object.values(end.points).reduce((sum, count) => sum + count, 0);
  return { points, deaths, calls: end.calls, faults };
}

async function runPoint(
  scenario: Scenario,
  { level, at }: { readonly level: Level; readonly at: number },
  { engine, redisUrl, victim }: PointsOptions,
): Promise<{ lines: readonly Line[]; faults: readonly string[] }> {
  using folder = temporaryFolder();
  const addressOf = (name: string, kind: EngineName): Address =>
    kind === "redis"
      ? { engine: kind, location: redisUrl, prefix: `${name}${randomHex(4)}:` }
      : { engine: kind, location: join(folder.path, `${name}.sqlite`), prefix: "" };
  const foreign = engine === "redis" ? "sqlite" : "redis";
  const otherEngine = scenario.other === "other engine" ? foreign : engine;
  const addresses = {
    main: addressOf("main", engine),
    ...(scenario.other === undefined ? {} : { other: addressOf("other", otherEngine) }),
  };
  const ledger = new Ledger(join(folder.path, "ledger"));
  const main = openPlace(addresses.main);
  const other = addresses.other === undefined ? main : openPlace(addresses.other);
  const scene: Scene = { main, other, ledger };
  try {
    await scenario.before?.(scene);
    await victim.run({ scenario: scenario.name, level, at, ledger: ledger.path, ...addresses });
    const lines = ledger.lines();
    await scenario.after?.(scene);
    return { lines, faults: await afterwards(scene) };
  } finally {
    for (const place of new Set([main, other])) await closePlace(place);
  }
}
