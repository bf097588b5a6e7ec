/**
 * The process that dies: takes the steps of one scenario and ends itself at one of them, with SIGKILL. Exits 0
 * where it came to the end before that step.
 */
import { Actor } from "./actor.ts";
import { CrashPoints, type Level } from "./crash-points.ts";
import { Ledger } from "./ledger.ts";
import { scenarios } from "./scenarios/all.ts";
import { type Address, openPlace } from "./scene.ts";

/** What it is told in its first argument, as JSON. */
export interface Order {
  readonly scenario: string;
  readonly level: Level;
  /** The point of its death, counted from 0; -1: it lives to the end. */
  readonly at: number;
  readonly main: Address;
  readonly other?: Address;
  readonly ledger: string;
}

async function takeSteps(order: Order): Promise<void> {
  const ledger = new Ledger(order.ledger);
  const points = new CrashPoints({ level: order.level, at: order.at, ledger });
  const main = openPlace(order.main);
  const other = order.other === undefined ? main : openPlace(order.other);
  await scenarios.get(order.scenario)!.run(new Actor({ main, other, ledger }, points));
  ledger.write({ kind: "end", points: points.passed, calls: [...points.calls] });
  process.exit(0);
}

void takeSteps(JSON.parse(process.argv[2] ?? "{}") as Order);
