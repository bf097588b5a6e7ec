import { settingsFrom } from "../../../../src/config/resolve.ts";
import { systemClock } from "../../../../src/foundation/clock.ts";
import { silentLogger } from "../../../../src/instrumentation/logger-output.ts";
import { Publisher } from "../../../../src/publisher/publisher.ts";
import type { PublishStore } from "../../../../src/store/store.ts";
import { type Actor, all } from "../actor.ts";
import { job } from "../scene.ts";
import type { Scenario } from "./scenario.ts";

const hour = { afterSeconds: 3600 };

export const publishing: readonly Scenario[] = [
  {
    name: "publishes one job",
    run: async (actor) => {
      await actor.watch();
      await actor.will({ a: "ready" }, () => actor.main.store.publish([job("a")]));
    },
  },
  {
    name: "publishes jobs of two channels, now and later, in one call",
    run: async (actor) => {
      await actor.watch();
      const jobs = [job("a"), job("b", { channel: "low" }), job("c", { due: hour }), job("d", { due: hour })];
      const facts = { a: "ready", b: "ready", c: "planned", d: "planned" };
      await actor.will(facts, () => actor.main.store.publish(jobs));
    },
  },
  {
    name: "publishes more jobs than one call takes",
    run: async (actor) => {
      await actor.watch();
      const request = { task: "Task", channel: "default" };
      const jobs = Array.from({ length: 1100 }, (_, i) => [i]);
      await publisher(actor).publishMany(request, jobs);
    },
  },
];

export const barring: readonly Scenario[] = [
  {
    name: "publishes behind a barrier and lifts it",
    run: async (actor) => {
      await actor.watch();
      const { store } = actor.main;
      const jobs = [job("a", { barrier: "barrier" }), job("b", { barrier: "barrier" })];
      await actor.will({ a: "ready", b: "ready" }, () => store.publish(jobs, "barrier"));
      await store.releaseBarrier("barrier");
    },
    after: ({ main }) => main.store.releaseBarrier("barrier"), // it lifts itself, after half a minute
  },
];

/** The library's own, whose batches the ledger is told of. */
function publisher(actor: Actor): Publisher {
  const store: PublishStore = {
    publish: (publications) => {
      const ids = publications.map(({ id }) => id);
      return actor.will(all(ids, "ready"), () => actor.main.store.publish(publications));
    },
    releaseBarrier: (barrier) => actor.main.store.releaseBarrier(barrier),
  };
  return new Publisher({
    store: () => store,
    settings: settingsFrom({ env: {} }),
    interceptors: [],
    emitter: { isListening: false, emit: () => {} },
    clock: systemClock,
    logger: silentLogger,
  });
}
