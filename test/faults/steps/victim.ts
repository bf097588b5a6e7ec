/**
 * The process that dies: takes the steps of scenarios and ends itself at one of them, with SIGKILL. Exits 0
 * where it came to the end of the last one before that step.
 */
import { Actor } from "./actor.ts";
import { CrashPoints, type Level } from "./crash-points.ts";
import { scenarios } from "./scenarios/all.ts";
import { type Part, sceneOf } from "./stage.ts";

/** What it is told in its first argument, as JSON. */
export interface Order {
  readonly parts: readonly Part[];
  /** The point of its death in each part, counted from 0; undefined: it lives to the end. */
  readonly death?: { readonly level: Level; readonly at: number };
}

async function takeSteps({ parts, death }: Order): Promise<void> {
  const points = new CrashPoints(death);
  for (const part of parts) {
    const scene = sceneOf(part);
    points.begin(scene.ledger);
    await scenarios.get(part.scenario)!.run(new Actor(scene, points));
    scene.ledger.write({ kind: "end", points: { ...points.passed }, calls: points.end() });
  }
  process.exit(0);
}

void takeSteps(JSON.parse(process.argv[2] ?? "{}") as Order);
