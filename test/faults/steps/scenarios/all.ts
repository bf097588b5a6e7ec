import { catalogScenarios } from "./administering.ts";
import { transferScenarios } from "./moving.ts";
import type { Scenario } from "./scenario.ts";
import { storeScenarios, waiterScenarios } from "./store-scenarios.ts";

/** By interface and method. */
export const scenarioTables: Readonly<Record<string, Readonly<Record<string, readonly Scenario[]>>>> = {
  Store: storeScenarios,
  ChannelWaiter: waiterScenarios,
  CatalogStore: catalogScenarios,
  TransferStore: transferScenarios,
};

/** Each once, by its name. */
export const scenarios: ReadonlyMap<string, Scenario> = new Map(
  Object.values(scenarioTables)
    .flatMap((table) => Object.values(table))
    .flat()
    .map((scenario) => [scenario.name, scenario]),
);
