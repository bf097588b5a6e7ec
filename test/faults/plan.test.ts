import { expect, test } from "bun:test";
import { allFaults, faultsFor } from "./faults/table.ts";
import { planRun, type RunPlan } from "./plan.ts";

const shown = ({ random: _, rounds, ...rest }: RunPlan) =>
  JSON.stringify({ ...rest, rounds: rounds.map((round) => round.map(({ name }) => name)) });

const planned = (seed: number, engine: "redis" | "sqlite" = "redis") =>
  planRun({ seed, engine, jobs: 200, faults: faultsFor(engine) });

test("a seed brings the same plan about again, and another one another", () => {
  expect(shown(planned(7))).toBe(shown(planned(7)));
  expect(shown(planned(7))).not.toBe(shown(planned(8)));
});

test("faults that need different stores, and those that are done once or alone, are never mixed", () => {
  for (let seed = 1; seed <= 500; seed++) {
    const chosen = planned(seed).rounds.flat();
    const once = chosen.flatMap((fault) => fault.once ?? []);
    expect(new Set(once).size).toBe(once.length);
    for (const round of planned(seed).rounds) {
      const alone = round.flatMap((fault) => fault.alone ?? []);
      expect(new Set(alone).size).toBe(alone.length);
    }
    for (const need of ["appendOnly", "hasReplica", "hasSmallDisk"] as const) {
      const wanted = new Set(chosen.map(({ needs }) => needs?.[need]).filter((value) => value !== undefined));
      expect(wanted.size).toBeLessThanOrEqual(1);
    }
  }
});

test("five hundred seeds do every fault that this machine can do", () => {
  for (const engine of ["redis", "sqlite"] as const) {
    const done = new Set(
      Array.from({ length: 500 }, (_, seed) => planned(seed, engine).rounds.flat()).flat(),
    );
    const possible = faultsFor(engine).filter(({ reasonAgainst }) => reasonAgainst?.() === undefined);
    expect([...done].map(({ name }) => name).sort()).toEqual(possible.map(({ name }) => name).sort());
  }
});

test("no two faults have one name", () => {
  expect(new Set(allFaults.map(({ name }) => name)).size).toBe(allFaults.length);
});
