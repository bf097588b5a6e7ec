import { Catalog } from "../../../../src/catalog/catalog.ts";
import type { CatalogStore, EntrySet, PurgeablePlace } from "../../../../src/store/catalog-store.ts";
import { type Actor, all, ids } from "../actor.ts";
import { job, type Scene } from "../scene.ts";
import { bystander, type MethodsOf, publish, type Scenario } from "./scenario.ts";

const sets: readonly EntrySet[] = ["planned", "retrying", "discarded"];

/** Jobs in a set, brought there as a node would. */
async function put({ main, ledger }: Scene, set: EntrySet, names: readonly string[]): Promise<void> {
  if (set === "planned") {
    const jobs = names.map((id) => job(id, { due: { afterSeconds: 3600 } }));
    await ledger.will(all(names, "planned"), () => main.store.publish(jobs));
    return;
  }
  const executor = { node: "host~bun:1:filler", executor: "w0-1", generation: "g1" };
  const entries = names.map((id) => {
    const { payload } = job(id);
    if (set === "retrying")
      return { slot: 0, token: "", jobId: id, outcome: "retry", delaySeconds: 3600, payload } as const;
    return { slot: 0, token: "", jobId: id, outcome: "archive", payload } as const;
  });
  const facts = { ...all(names, set), "#failed": String(names.length) };
  await ledger.will(facts, () =>
    main.store.cycle({ executor, settlements: entries, slots: [], channels: [], isAtMostOnce: true }),
  );
}

async function locatorOf({ main }: Actor, set: EntrySet, id: string): Promise<string> {
  const { items } = await main.catalog.entries({ state: set }, { id });
  if (items[0] === undefined) throw new Error(`${id} is not among those ${set}`);
  return items[0].locator;
}

const removing = sets.map(
  (set): Scenario => ({
    name: `removes one entry of those ${set}`,
    before: (scene) => put(scene, set, ["a", "b"]),
    run: async (actor) => {
      await actor.watch();
      const locator = await locatorOf(actor, set, "a");
      await actor.will({ a: "gone" }, () => actor.main.catalog.remove(set, locator));
    },
  }),
);

const requeueing = sets.map(
  (set): Scenario => ({
    name: `requeues one entry of those ${set}`,
    before: (scene) => put(scene, set, ["a", "b"]),
    run: async (actor) => {
      await actor.watch();
      const locator = await locatorOf(actor, set, "a");
      await actor.will({ a: "ready" }, () => actor.main.catalog.requeue(set, locator));
    },
  }),
);

const requeueingAll = sets.map(
  (set): Scenario => ({
    name: `requeues all of those ${set}`,
    before: (scene) => put(scene, set, ids(130)),
    run: async (actor) => {
      await actor.watch();
      const catalog = new Catalog(undefined, actor.main.catalog);
      await actor.will(all(ids(130), "ready"), () => catalog[set].requeueAll(), { isWhole: false });
    },
  }),
);

const purgeable: readonly PurgeablePlace[] = [
  { state: "ready", channel: "default" },
  ...sets.map((state) => ({ state })),
];

const purging = purgeable.map(
  (place): Scenario => ({
    name: `purges what is ${place.state}`,
    before: (scene) =>
      place.state === "ready"
        ? publish(scene, ...ids(130).map((id) => job(id)))
        : put(scene, place.state, ids(130)),
    run: async (actor) => {
      await actor.watch();
      const catalog = new Catalog(undefined, actor.main.catalog);
      const purge = () =>
        place.state === "ready" ? catalog.purge(place.channel) : catalog[place.state].purge();
      await actor.will(all(ids(130), "gone"), purge, { isWhole: false });
    },
  }),
);

const pausing: readonly Scenario[] = [
  {
    name: "pauses two channels and resumes one",
    before: (scene) => publish(scene, job("a"), job("b", { channel: "low" })),
    run: async (actor) => {
      const { catalog } = actor.main;
      await actor.watch();
      await actor.will({ "#paused": "default" }, () => catalog.pause("default"));
      await actor.will({ "#paused": "default low" }, () => catalog.pause("low"));
      await actor.will({ "#paused": "low" }, () => catalog.resume("default"));
    },
  },
];

const looking = (what: string, look: (catalog: CatalogStore, node: string) => Promise<unknown>) => [
  bystander(`looks at ${what}`, ({ main, worker }) => look(main.catalog, worker.node)),
];

/** What calls each method of administration. */
export const catalogScenarios = {
  close: looking("nothing and closes the catalog", (catalog) => catalog.close()),
  counters: looking("the counters", (catalog) => catalog.counters()),
  channels: looking("the channels", (catalog) => catalog.channels()),
  pause: pausing,
  resume: pausing,
  entries: looking("the jobs of a channel", (catalog) =>
    catalog.entries({ state: "ready", channel: "default" }),
  ),
  remove: removing,
  requeue: requeueing,
  requeueStep: requeueingAll,
  purgeStep: purging,
  nodes: looking("the nodes", (catalog) => catalog.nodes()),
  signal: looking("a node and leaves it a signal", (catalog, node) => catalog.signal(node, "TTIN")),
  executions: looking("what a node runs", (catalog, node) => catalog.executions(node)),
  claims: looking("the claims of a node", (catalog, node) => catalog.claims(node)),
  claim: looking("one claim", (catalog, node) => catalog.claim({ node, holder: "w0-1.0" })),
  survey: looking("everything", (catalog) => catalog.survey()),
  attempts: looking("the attempts", (catalog) => catalog.attempts()),
  ids: looking("a collection of ids", (catalog) => catalog.ids("collection")),
} satisfies Record<MethodsOf<CatalogStore>, readonly Scenario[]>;
