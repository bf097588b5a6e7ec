import { describe, expect, test } from "bun:test";
import { Contract } from "./contract.ts";
import { scenarioTables } from "./scenarios/all.ts";
import { outcomes } from "./scenarios/cycling.ts";

const contract = new Contract(
  "src/store/store.ts",
  "src/store/catalog-store.ts",
  "src/store/transfer-store.ts",
);

describe("the scenarios of deaths", () => {
  for (const name of Object.keys(scenarioTables)) {
    test(`name each method of ${name}, as it is declared`, () => {
      const table = scenarioTables[name] ?? {};
      expect(Object.keys(table).toSorted()).toEqual(contract.methodsOf(name));
      for (const scenarios of Object.values(table)) expect(scenarios.length).toBeGreaterThan(0);
    });
  }

  test("name each outcome that a settlement can have", () => {
    expect(Object.keys(outcomes).toSorted()).toEqual(contract.valuesOf("SettlementOutcome", "outcome"));
  });

  test("leave out no interface of a store", () => {
    expect(Object.keys(scenarioTables).toSorted()).toEqual(contract.wholes);
  });
});
