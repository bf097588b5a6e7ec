import { afterwards } from "./afterwards.ts";
import type { Death } from "./crash-points.ts";
import type { Line } from "./ledger.ts";
import type { Scenario } from "./scenarios/scenario.ts";
import type { EngineName } from "./scene.ts";
import { setStage } from "./stage.ts";
import type { Victim } from "./victim-program.ts";

export interface PointsOptions {
  readonly engine: EngineName;
  readonly redisUrl: string;
  readonly victim: Victim;
}

/** A scenario that went to its end. */
export interface Rehearsal {
  readonly scenario: Scenario;
  /** Every point of it. */
  readonly points: readonly Death[];
  /** Such as `Store.publish`: what the process calls from its first point on. */
  readonly calls: readonly string[];
  /** Empty when all is well. */
  readonly faults: readonly string[];
}

/** Lets one process take the steps of all scenarios to the end. */
export async function rehearse(
  scenarios: readonly Scenario[],
  options: PointsOptions,
): Promise<readonly Rehearsal[]> {
  const stages = await Promise.all(scenarios.map((scenario) => setStage(scenario, options)));
  await options.victim.run({ parts: stages.map(({ part }) => part) });
  const rehearsals: Rehearsal[] = [];
  for (const { scenario, scene, close } of stages) {
    const end = scene.ledger.lines().find((line) => line.kind === "end");
    if (end === undefined) throw new Error(`${scenario.name}: the process came to no end, see its output`);
    await scenario.after?.(scene);
    const faults = (await afterwards(scene)).map((fault) => `${scenario.name}, without a death: ${fault}`);
    rehearsals.push({ scenario, points: pointsOf(end), calls: end.calls, faults });
    await close();
  }
  return rehearsals;
}

function pointsOf({ points }: Extract<Line, { kind: "end" }>): Death[] {
  return (["calls", "commands"] as const).flatMap((level) =>
    Array.from({ length: points[level] ?? 0 }, (_, at) => ({ level, at })),
  );
}

/**
 * Lets a process take the steps of a scenario until it dies.
 *
 * @returns what is wrong afterwards, with the point; empty when all is well
 */
export async function dieAt(scenario: Scenario, death: Death, options: PointsOptions): Promise<string[]> {
  const { scene, part, close } = await setStage(scenario, options);
  try {
    await options.victim.run({ parts: [part], death });
    const died = scene.ledger.lines().find((line) => line.kind === "death");
    if (died === undefined) throw new Error(`${scenario.name}: no death at ${JSON.stringify(death)}`);
    await scenario.after?.(scene);
    const where = `${scenario.name}, ${died.when} ${died.point} (${death.level}, point ${death.at})`;
    return (await afterwards(scene)).map((fault) => `${where}: ${fault}`);
  } finally {
    await close();
  }
}
