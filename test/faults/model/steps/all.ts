import type fc from "fast-check";
import type { Step } from "../step.ts";
import { administeringSteps } from "./administering.ts";
import { cyclingSteps } from "./cycling.ts";
import { livingSteps } from "./living.ts";
import { publishingSteps } from "./publishing.ts";

const weights: Readonly<Record<string, number>> = {
  publish: 8,
  cycle: 20,
  beginAlone: 16,
  startNode: 3,
  grant: 3,
  promote: 3,
  recover: 2,
  reconcile: 2,
  settleLate: 2,
  settleUnclaimed: 2,
  takeEntry: 3,
  resume: 4,
};

const table: Readonly<Record<string, fc.Arbitrary<Step>>> = {
  ...publishingSteps,
  ...cyclingSteps,
  ...livingSteps,
  ...administeringSteps,
};

/** What the steps are called; `takeEntry` requeues or removes. */
export const kinds: readonly string[] = Object.keys(table).flatMap((name) =>
  name === "takeEntry" ? ["requeue", "remove"] : [name],
);

/** Every kind of step, some of them as often as several others. */
export const allSteps: fc.Arbitrary<Step>[] = Object.entries(table).flatMap(([name, step]) =>
  Array<fc.Arbitrary<Step>>(weights[name] ?? 1).fill(step),
);
