/**
 * The process that dies: takes the steps of one scenario and ends itself at one of them, with SIGKILL. Exits 0
 * where it came to the end before that step.
 */
import { Actor } from "./actor.ts";
import { CrashPoints, type Level } from "./crash-points.ts";
import { Ledger } from "./ledger.ts";
import { type Address, openPlace } from "./scene.ts";
import { scenarios } from "./scenarios/all.ts";

/** What it is told in its first argument, as JSON. */
export interface Order {
  readonly scenario: string;
  readonly level: Level;
  readonly at: number;
  readonly main: Address;
  readonly other: Address;
  readonly ledger: string;
}

if (import.meta.main) {
  const order = JSON.parse(process.argv[2] ?? "{}") as Order;
  const ledger = new Ledger(order.ledger);
  const points = new CrashPoints({ level: order.level, at: order.at, ledger });
  const scene = { main: openPlace(order.main), other: openPlace(order.other), ledger };
  await scenarios.get(order.scenario)!.run(new Actor(scene, points));
  ledger.write({ kind: "end", calls: [...points.calls] });
  process.exit(0);
}
