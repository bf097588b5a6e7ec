import type { SiteEngine } from "../../support/site.ts";
import type { StoreNeeds } from "../fault.ts";
import { Random } from "../random.ts";
import type { SeatSetup } from "../world/fleet.ts";
import { World } from "../world/world.ts";

export interface StageOptions {
  readonly engine: SiteEngine;
  readonly needs?: StoreNeeds;
  /** One for each node: what differs from a node with one worker of one slot and the default settings. */
  readonly nodes: readonly Partial<SeatSetup>[];
}

const usual: SeatSetup = {
  args: ["-c", "1", "--channel", "default"],
  env: { NODE_ENV: "development", SOLID_JOBS_RETRY_BASE: "0.05" },
  wrapper: [],
};

/** A world of its own for one measurement. */
export function stage({ engine, needs = {}, nodes }: StageOptions): Promise<World> {
  const seats = nodes.map((node) => ({ ...usual, ...node, env: { ...usual.env, ...node.env } }));
  return World.open({ engine, needs, seats, random: new Random(1) });
}

/** The first execution of the job, behind the `skip` ones before. Looked for every millisecond or so. */
export async function begun(world: World, id: string, skip = 0) {
  for (;;) {
    const run = world.ledger.refresh().runs.filter((each) => each.id === id)[skip];
    if (run !== undefined) return run;
    await Bun.sleep(1);
  }
}
