import type { SettlementOutcome } from "../../../../src/store/store.ts";
import { type Actor, all, channels, ids, settlement } from "../actor.ts";
import type { Facts } from "../ledger.ts";
import { job } from "../scene.ts";
import { bystander, publish, type Scenario } from "./scenario.ts";

type Outcome = SettlementOutcome["outcome"];

const done = { "#processed": "1" };
const failed = { "#failed": "1" };

/** How each outcome is asked for, and what is so afterwards: a new outcome must be told here. */
export const outcomes = {
  ack: { make: () => ({ outcome: "ack" }), facts: { a: "gone", ...done } },
  drop: { make: () => ({ outcome: "drop" }), facts: { a: "gone", ...failed } },
  requeue: { make: () => ({ outcome: "requeue" }), facts: { a: "ready" } },
  postpone: { make: () => ({ outcome: "postpone", delaySeconds: 3600 }), facts: { a: "retrying" } },
  retry: {
    make: (payload) => ({ outcome: "retry", delaySeconds: 3600, payload }),
    facts: { a: "retrying", ...failed },
  },
  archive: { make: (payload) => ({ outcome: "archive", payload }), facts: { a: "discarded", ...failed } },
} satisfies Record<Outcome, { make: (payload: string) => SettlementOutcome; facts: Facts }>;

const three = (scene: Parameters<typeof publish>[0]) =>
  publish(scene, job("a"), job("b"), job("c", { channel: "low" }));

function settles(outcome: Outcome): readonly Scenario[] {
  const { make, facts } = outcomes[outcome];
  return [
    {
      name: `settles with ${outcome}`,
      before: three,
      run: async (actor) => {
        const [settled] = await heldBy(actor, "a");
        await actor.watch();
        await actor.will(facts, () => actor.cycle([settled!(make)]));
      },
    },
    {
      name: `settles with ${outcome} and reserves the next in the same call`,
      before: three,
      run: async (actor) => {
        const [settled] = await heldBy(actor, "a");
        await actor.watch();
        const next = outcome === "requeue" ? { a: "claimed" } : { b: "claimed" };
        await actor.will({ ...facts, ...next }, () => actor.cycle([settled!(make)], 1));
      },
    },
    {
      name: `settles with ${outcome}, sends it again, and settles another`,
      before: three,
      run: async (actor) => {
        const [first, second] = await heldBy(actor, "a", "b");
        await actor.watch();
        await actor.will(facts, () => actor.cycle([first!(make)]));
        await actor.cycle([first!(make)]);
        const count = (name: string) => String(1 + Number((facts as Facts)[name] ?? 0));
        await actor.will({ b: "gone", "#processed": count("#processed") }, () =>
          actor.cycle([second!(() => ({ outcome: "ack" }))]),
        );
      },
    },
  ];
}

/** Joins, reserves these, and answers with how each is settled. */
async function heldBy(actor: Actor, ...wanted: readonly string[]) {
  await actor.join();
  const reserved = await actor.hold(...wanted);
  return reserved.map((reservation) => {
    return (make: (payload: string) => SettlementOutcome) => settlement(reservation, make(reservation.raw));
  });
}

export const cycling: readonly Scenario[] = [
  ...(Object.keys(outcomes) as Outcome[]).flatMap(settles),
  {
    name: "reserves from two channels",
    before: three,
    run: async (actor) => {
      await actor.join();
      await actor.watch();
      await actor.hold("a", "b", "c");
    },
  },
  {
    name: "reserves ahead under tokens of its own, gives one back and settles another",
    before: three,
    run: async (actor) => {
      await actor.join();
      await actor.hold("a");
      await actor.watch();
      const { store } = actor.main;
      const request = { executor: actor.worker, settlements: [], channels };
      const { reserved } = await actor.will({ b: "claimed", c: "claimed" }, () =>
        store.cycle({ ...request, slots: [1, 2], ahead: 1, tokenBase: "own.1" }),
      );
      const [back, done] = reserved;
      const ends = [settlement(back!, { outcome: "requeue" }), settlement(done!, { outcome: "ack" })];
      await actor.will({ b: "ready", c: "gone", "#processed": "1" }, () =>
        store.cycle({ ...request, settlements: ends, slots: [], ahead: 2 }),
      );
    },
  },
  {
    name: "reserves at most once and archives one of those that failed",
    before: three,
    run: async (actor) => {
      await actor.join();
      await actor.watch();
      const { store } = actor.main;
      const request = { executor: actor.worker, channels: [...channels], isAtMostOnce: true };
      const { reserved } = await actor.will({ a: "gone", b: "gone", "#processed": "2" }, () =>
        store.cycle({ ...request, settlements: [], slots: [0, 1] }),
      );
      const outcome = { outcome: "archive", payload: reserved[0]!.raw } as const;
      await actor.will({ a: "discarded", "#failed": "1" }, () =>
        store.cycle({ ...request, settlements: [settlement(reserved[0]!, outcome)], slots: [] }),
      );
    },
  },
  {
    name: "settles more claims than one call carries",
    before: (scene) => publish(scene, ...ids(250).map((id) => job(id))),
    run: async (actor) => {
      await actor.join();
      const held = await many(actor, ids(250));
      await actor.watch();
      const acks = held.map((reservation) => settlement(reservation, { outcome: "ack" }));
      const facts = { ...all(ids(250), "gone"), "#processed": "250" };
      await actor.will(facts, () => actor.cycle(acks), { isWhole: actor.main.store.engine === "sqlite" });
    },
  },
  {
    name: "takes a job through its life: reserve, retry, promote, reserve, ack",
    before: three,
    run: async (actor) => {
      await actor.join();
      await actor.watch();
      const [first] = await actor.hold("a");
      const retry = { outcome: "retry", delaySeconds: 0, payload: first!.raw } as const;
      await actor.will({ a: "retrying", "#failed": "1" }, () => actor.cycle([settlement(first!, retry)]));
      await actor.will({ a: "ready" }, () => actor.main.store.promoteDue());
      const [second, third] = await actor.hold("b", "a");
      const ends = [settlement(second!, { outcome: "requeue" }), settlement(third!, { outcome: "ack" })];
      await actor.will({ b: "ready", a: "gone", "#processed": "1" }, () => actor.cycle(ends));
    },
  },
];

async function many(actor: Actor, wanted: readonly string[]) {
  const { reserved: first } = await actor.cycle([], 200);
  const slots = Array.from({ length: wanted.length - first.length }, (_, i) => first.length + i);
  const { reserved: rest } = await actor.main.store.cycle({
    executor: actor.worker,
    settlements: [],
    slots,
    channels,
  });
  await actor.will(all(wanted, "claimed"), async () => {});
  if (first.length + rest.length !== wanted.length) throw new Error("expected a claim for each job");
  return [...first, ...rest];
}

export const readingClaims: readonly Scenario[] = [
  {
    name: "reads the bytes of a claim",
    before: three,
    run: async (actor) => {
      await actor.join();
      const [held] = await actor.hold("a");
      await actor.watch();
      await actor.main.store.claimedBytes(actor.worker, held!);
    },
  },
];

export const beginningAlone: readonly Scenario[] = [
  {
    name: "begins a job alone and acks it",
    before: three,
    run: async (actor) => {
      await actor.join();
      const [held] = await actor.hold("a");
      await actor.watch();
      await actor.main.store.beginAlone(actor.worker, held!);
      const ack = settlement(held!, { outcome: "ack" });
      await actor.will({ a: "gone", ...done }, () => actor.cycle([ack]));
    },
  },
];

export const reconciling: readonly Scenario[] = [
  {
    name: "reconciles: one claim is known, two came with a lost reply",
    before: three,
    run: async (actor) => {
      await actor.join();
      const [known] = await actor.hold("a", "b", "c");
      await actor.watch();
      const { store } = actor.main;
      await actor.will({ b: "ready", c: "ready" }, () => store.reconcile(actor.worker, "g2", [known!], 3));
    },
  },
  {
    name: "reconciles more claims than one call puts back",
    before: (scene) => publish(scene, ...ids(250).map((id) => job(id))),
    run: async (actor) => {
      await actor.join();
      await many(actor, ids(250));
      await actor.watch();
      const reconcile = () => actor.main.store.reconcile(actor.worker, "g2", [], 250);
      await actor.will(all(ids(250), "ready"), reconcile, { isWhole: false });
    },
  },
];

export const showing: readonly Scenario[] = [
  bystander("shows what it runs", (actor) => actor.main.store.showRunning(actor.worker, [])),
];
