import { all, ids, settlement } from "../actor.ts";
import { job, nodeRecord } from "../scene.ts";
import { bystander, deadNode, publish, type Scenario } from "./scenario.ts";

const calm = { busy: 0, isQuiet: false, isNewServer: false };

export const registering: readonly Scenario[] = [
  {
    name: "registers, is granted a generation, and reserves",
    before: (scene) => publish(scene, job("a")),
    run: async (actor) => {
      await actor.watch();
      await actor.join();
      await actor.hold("a");
    },
  },
];

export const revoking: readonly Scenario[] = [
  {
    name: "takes the generation of a dead thread away and settles what it held",
    before: (scene) => publish(scene, job("a"), job("b")),
    run: async (actor) => {
      await actor.join();
      const [held] = await actor.hold("a", "b");
      await actor.watch();
      const { node, executor } = actor.worker;
      await actor.main.store.revoke(node, executor, { isCrash: true });
      const retry = { outcome: "retry", delaySeconds: 3600, payload: held!.raw } as const;
      await actor.will({ a: "retrying", "#failed": "1" }, () => actor.cycle([settlement(held!, retry)]));
    },
  },
];

export const beating: readonly Scenario[] = [
  bystander("beats", ({ main, worker }) => main.store.beat(worker.node, calm)),
];
export const identifying: readonly Scenario[] = [
  bystander("asks which server it is", ({ main }) => main.store.serverIdentity()),
];
export const signalling: readonly Scenario[] = [
  bystander("leaves a signal and takes it", async ({ main, worker }) => {
    await main.catalog.signal(worker.node, "TSTP");
    await main.store.takeSignals(worker.node);
  }),
];
export const sighting: readonly Scenario[] = [
  bystander("looks for nodes", ({ main }) => main.store.sightNodes()),
];
export const sightingOrphans: readonly Scenario[] = [
  bystander("looks for claims without a node", ({ main }) => main.store.sightOrphans()),
];
export const opening: readonly Scenario[] = [
  {
    name: "opens and closes a store",
    run: async (actor) => {
      await actor.watch({ isConnected: false });
      await actor.main.store.open();
      await actor.main.store.close();
    },
  },
];
export const waitingForWork: readonly Scenario[] = [
  bystander("waits for work", async ({ main }) => {
    const waiter = main.store.waiter("default");
    await waiter.wait(5000);
    waiter.close();
  }),
];

export const promoting: readonly Scenario[] = [
  {
    name: "promotes what is due, planned and retried, and leaves the rest",
    before: async (scene) => {
      await publish(
        scene,
        job("a", { due: { afterSeconds: 0 } }),
        job("b", { due: { atSeconds: 1 }, channel: "low" }),
        job("later", { due: { afterSeconds: 3600 } }),
      );
    },
    run: async (actor) => {
      await publish(actor, job("again"));
      await actor.join();
      const [held] = await actor.hold("again");
      const retry = { outcome: "retry", delaySeconds: 0, payload: held!.raw } as const;
      await actor.will({ again: "retrying", "#failed": "1" }, () => actor.cycle([settlement(held!, retry)]));
      await actor.watch();
      await actor.will({ a: "ready", b: "ready", again: "ready" }, () => actor.main.store.promoteDue());
    },
  },
  {
    name: "promotes more than one call moves",
    before: (scene) => publish(scene, ...ids(130).map((id) => job(id, { due: { afterSeconds: 0 } }))),
    run: async (actor) => {
      await actor.watch();
      const twice = async () => {
        await actor.main.store.promoteDue();
        await actor.main.store.promoteDue();
      };
      await actor.will(all(ids(130), "ready"), twice, { isWhole: false });
    },
  },
];

export const recovering: readonly Scenario[] = [
  {
    name: "recovers a dead node in several steps",
    before: async (scene) => {
      await publish(scene, ...ids(130).map((id) => job(id)));
      await deadNode(scene, ids(130));
    },
    run: async (actor) => {
      const { store } = actor.main;
      await actor.join();
      await actor.watch();
      const { nodes } = await store.sightNodes();
      for (const { identity } of nodes) {
        if (identity === actor.worker.node) continue;
        const request = { identity, judge: actor.worker.node, isProven: true };
        while ((await store.recover(request)).state === "more");
      }
    },
  },
];

export const closing: readonly Scenario[] = [
  {
    name: "closes itself for reservations and leaves",
    before: (scene) => publish(scene, ...ids(130).map((id) => job(id))),
    run: async (actor) => {
      await actor.join();
      await actor.hold(...ids(130));
      await actor.watch();
      await actor.main.store.closeForReservations(actor.worker.node);
      const leave = () => actor.main.store.leave(actor.worker.node);
      await actor.will(all(ids(130), "ready"), leave, { isWhole: false });
    },
  },
  {
    name: "comes again under a new identity after it left",
    run: async (actor) => {
      await actor.watch();
      await actor.join();
      await actor.main.store.leave(actor.worker.node);
      await actor.main.store.register(nodeRecord("host~bun:1:again"));
    },
  },
];
