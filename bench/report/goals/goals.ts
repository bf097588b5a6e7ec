import type { Results } from "../facts.ts";
import { Lookup } from "../lookup.ts";
import { idleGoals, latencyGoals, memoryGoals, startGoals } from "./cost.ts";
import { embeddedGoals, sizeGoals } from "./embedded.ts";
import type { Goal } from "./goal.ts";
import { cpuGoals, publishGoals, throughputGoals, waitingGoals } from "./speed.ts";

/** The numbers to reach, each with what was reached; without those whose part did not run. */
export function goalsOf(results: Results): Goal[] {
  const lookup = new Lookup(results);
  const measured = new Set(results.summaries.map(({ part }) => part));
  const chapters: Record<string, (lookup: Lookup) => Goal[]> = {
    throughput: throughputGoals,
    cpu: cpuGoals,
    io: (each) => waitingGoals(each, "io"),
    http: (each) => waitingGoals(each, "http"),
    publish: publishGoals,
    latency: latencyGoals,
    memory: memoryGoals,
    idle: idleGoals,
    start: startGoals,
    embedded: embeddedGoals,
    sizes: sizeGoals,
  };
  return Object.entries(chapters).flatMap(([part, goals]) => (measured.has(part) ? goals(lookup) : []));
}

export function goalRows(goals: readonly Goal[]): string[][] {
  return [
    ["what", "goal", "reached", "", "beside"],
    ...goals.map(({ what, goal, reached, isReached, beside }) => [
      ...[what, goal, reached, isReached === undefined ? "" : isReached ? "yes" : "NO", beside],
    ]),
  ];
}
