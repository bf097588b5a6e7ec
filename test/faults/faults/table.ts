import type { SiteEngine } from "../../support/site.ts";
import type { Fault } from "../fault.ts";
import { clockFaults } from "./clock.ts";
import { deployFaults } from "./deploy.ts";
import { failoverFaults } from "./failover.ts";
import { jobFaults } from "./jobs.ts";
import { networkFaults } from "./network.ts";
import { processFaults } from "./process.ts";
import { redisFaults } from "./redis.ts";
import { sqliteFaults } from "./sqlite.ts";

/** Every fault there is. */
export const allFaults: readonly Fault[] = [
  ...processFaults,
  ...jobFaults,
  ...deployFaults,
  ...redisFaults,
  ...failoverFaults,
  ...networkFaults,
  ...clockFaults,
  ...sqliteFaults,
];

export function faultsFor(engine: SiteEngine): readonly Fault[] {
  return allFaults.filter(({ engines }) => engines.includes(engine));
}
