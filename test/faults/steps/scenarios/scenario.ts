import type { Publication } from "../../../../src/store/store.ts";
import { type Actor, all } from "../actor.ts";
import { closePlace, job, nodeRecord, openPlace, type Scene } from "../scene.ts";

/** What a process does until it dies at one of its steps. */
export interface Scenario {
  readonly name: string;
  /** The engine of the place jobs are moved to, where they are. */
  readonly other?: "same engine" | "other engine";
  /** Another process does this before. */
  readonly before?: (scene: Scene) => Promise<void>;
  /** What the process does; from `actor.watch()` on each step may be its last. */
  readonly run: (actor: Actor) => Promise<void>;
  /** Another process does this after, apart from recovery, which always follows. */
  readonly after?: (scene: Scene) => Promise<void>;
}

/** The names of an interface's methods. */
export type MethodsOf<T> = {
  [K in keyof T]: T[K] extends (...args: never[]) => unknown ? K : never;
}[keyof T];

/** Published, and in the ledger. */
export async function publish(
  { main, ledger }: Pick<Scene, "main" | "ledger">,
  ...jobs: readonly Publication[]
): Promise<void> {
  const facts = Object.fromEntries(jobs.map(({ id, due }) => [id, due === undefined ? "ready" : "planned"]));
  await ledger.will(facts, () => main.store.publish(jobs));
}

/** A node of a process that is gone, which holds these jobs: they must have been published. */
export async function deadNode(scene: Scene, held: readonly string[]): Promise<void> {
  const place = openPlace(scene.main.address);
  const worker = { node: "host~bun:1:dead", executor: "w0-1", generation: "g1" };
  await place.store.register(nodeRecord(worker.node, { isDead: true }));
  await place.store.grant(worker);
  await scene.ledger.will(all(held, "claimed"), async () => {
    for (let from = 0; from < held.length; from += 50) {
      const slots = Array.from({ length: Math.min(50, held.length - from) }, (_, i) => from + i);
      const channels = [{ channel: "default", quota: 1000 }];
      const { reserved } = await place.store.cycle({ executor: worker, settlements: [], slots, channels });
      if (reserved.length !== slots.length)
        throw new Error(`the dead node holds ${reserved.length} jobs of ${slots.length}`);
    }
  });
  await closePlace(place);
}

/** For methods that change nothing about jobs: whatever happens, a job stays where it is. */
export function bystander(name: string, run: (actor: Actor) => Promise<unknown>): Scenario {
  return {
    name,
    before: (scene) => publish(scene, job("bystander")),
    run: async (actor) => {
      await actor.join();
      await actor.watch();
      await run(actor);
    },
  };
}
