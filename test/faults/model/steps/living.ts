import fc from "fast-check";
import type { ClaimReference, Settlement } from "../../../../src/store/store.ts";
import {
  executorOf,
  type Model,
  type ModelClaim,
  type ModelNode,
  type ModelWorker,
  pick,
  slotsOfWorker,
} from "../model.ts";
import type { Real } from "../real.ts";
import { Step } from "../step.ts";
import { cycleOf, settlementOf } from "./cycling.ts";
import { holds, same, sameAll } from "./expecting.ts";

const mostNodes = 6;
const slots = [...Array(slotsOfWorker).keys()];
const calm = { busy: 0, isQuiet: false, isNewServer: false };

const startNode = fc.constant(null).map(
  () =>
    new Step({
      name: "startNode()",
      canBeTaken: ({ nodes }) => nodes.filter(({ state }) => state !== "gone").length < mostNodes,
      take: addNode,
    }),
);

/** A node with two workers that may reserve. */
export async function addNode(model: Model, real: Real): Promise<void> {
  const workers: ModelWorker[] = [];
  const node: ModelNode = { identity: `host~bun:1:${model.nextName("node")}`, workers, state: "up" };
  await real.startNode(node);
  for (const name of ["w0-1", "w1-1"]) {
    const generation = model.nextName("generation");
    const worker: ModelWorker = {
      node,
      name,
      generation,
      lastGeneration: generation,
      lastAhead: 0,
      claims: new Map(),
    };
    workers.push(worker);
    same("is granted", true, await real.storeOf(node).grant(executorOf(worker)));
  }
  model.nodes.push(node);
}

/** Under a new generation; a node that is gone gets none. */
const grant = fc.nat().map(
  (index) =>
    new Step({
      name: `grant(worker ${index})`,
      canBeTaken: ({ nodes }) => nodes.length > 0,
      take: async (model, real) => {
        const worker = pick(model.workers, index)!;
        const generation = model.nextName("generation");
        const isGranted = await real.storeOf(worker.node).grant({ ...executorOf(worker), generation });
        same("is granted", worker.node.state !== "gone", isGranted);
        worker.lastGeneration = generation;
        worker.generation = isGranted ? generation : undefined;
      },
    }),
);

/** Whose crash is counted: of every claim, of those in the slots that ran, or of all but those that are spared. */
const crashes = fc.oneof(
  fc.constant({ isCrash: false }),
  fc.constant({ isCrash: true }),
  fc.record({ isCrash: fc.constant(true), running: fc.subarray(slots) }),
  fc.record({ isCrash: fc.constant(true), sparedSlots: fc.subarray(slots) }),
);

const revoke = fc.record({ worker: fc.nat(), crash: crashes }).map(
  ({ worker: index, crash }) =>
    new Step({
      name: `revoke(worker ${index}, ${JSON.stringify(crash)})`,
      canBeTaken: ({ nodes }) => nodes.length > 0,
      take: async (model, real) => {
        const worker = pick(model.workers, index)!;
        const { node, name, claims } = worker;
        const counted = [...claims.values()].filter(({ slot }) => {
          if ("running" in crash) return crash.running.includes(slot);
          return crash.isCrash && !("sparedSlots" in crash && crash.sparedSlots.includes(slot));
        });
        const others = [...claims.values()].filter((claim) => !counted.includes(claim));
        const options =
          "sparedSlots" in crash ? { ...crash, spared: others.map(({ token }) => token) } : crash;
        const told = await real.storeOf(node).revoke(node.identity, name, options);
        const tell = (id: string, slot: number, token: string) => `${id} ${slot} ${token}`;
        sameAll(
          "held",
          [...claims.values()].map(({ job, slot, token }) => tell(job.id, slot, token)),
          told.map(({ jobId, slot, token }) => tell(jobId, slot, token)),
        );
        worker.generation = undefined;
        for (const claim of counted) model.countCrash(claim);
      },
    }),
);

const closeForReservations = fc.nat().map(
  (index) =>
    new Step({
      name: `closeForReservations(node ${index})`,
      canBeTaken: ({ nodes }) => nodes.length > 0,
      take: async (model, real) => {
        const node = pick(model.nodes, index)!;
        await real.storeOf(node).closeForReservations(node.identity);
        for (const worker of node.workers) worker.generation = undefined;
      },
    }),
);

const leave = fc.nat().map(
  (index) =>
    new Step({
      name: `leave(node ${index})`,
      canBeTaken: ({ nodes }) => nodes.length > 0,
      take: async (model, real) => {
        const node = pick(model.nodes, index)!;
        const { requeued } = await real.storeOf(node).leave(node.identity);
        same("requeued", claimsOf(node).length, requeued);
        model.remove(node, { isCrash: false });
      },
    }),
);

const beat = fc.nat().map(
  (index) =>
    new Step({
      name: `beat(node ${index})`,
      canBeTaken: ({ nodes }) => nodes.length > 0,
      take: async (model, real) => {
        const node = pick(model.nodes, index)!;
        const { isAlive } = await real.storeOf(node).beat(node.identity, calm);
        same("is alive", node.state !== "gone", isAlive);
        // On SQLite its lock is what counts, and that is lost for good.
        if (node.state === "expired" && real.engine === "redis") node.state = "up";
      },
    }),
);

const expire = fc.nat().map(
  (index) =>
    new Step({
      name: `expire(node ${index})`,
      canBeTaken: ({ nodes }) => nodes.some(({ state }) => state === "up"),
      take: async (model, real) => {
        const node = pick(
          model.nodes.filter(({ state }) => state === "up"),
          index,
        )!;
        await real.expire(node);
        node.state = "expired";
      },
    }),
);

/** With proof, or by what the store knows: a node that lives is then left alone. */
const recover = fc.record({ node: fc.nat(), isProven: fc.boolean() }).map(
  ({ node: index, isProven }) =>
    new Step({
      name: `recover(node ${index}${isProven ? ", proven" : ""})`,
      canBeTaken: ({ nodes }) => nodes.length > 0,
      take: async (model, real) => {
        const node = pick(model.nodes, index)!;
        const isDead = isProven || node.state !== "up";
        const reply = await real.recover(node, { isProven });
        same("state", isDead ? "done" : "alive", reply.state);
        if (!isDead) return same("recovered", 0, reply.recovered.length);
        const claims = claimsOf(node);
        model.remove(node, { isCrash: true });
        sameAll(
          "recovered",
          claims.map(({ job }) => `${job.id} ${job.crashes}`),
          reply.recovered.map(({ jobId, crashes }) => `${jobId} ${crashes}`),
        );
      },
    }),
);

/** A node that is taken for dead settles all it holds while it is recovered: each claim ends one way. */
const recoverWhileSettling = fc.nat().map(
  (index) =>
    new Step({
      name: `recoverWhileSettling(node ${index})`,
      canBeTaken: ({ nodes }) => nodes.some((node) => claimsOf(node).length > 0),
      take: async (model, real) => {
        const node = pick(
          model.nodes.filter((each) => claimsOf(each).length > 0),
          index,
        )!;
        const worker = node.workers.find(({ claims }) => claims.size > 0)!;
        const ack = { outcome: "ack", delaySeconds: 0, asBytes: false } as const;
        const settlements = [...worker.claims.values()].map((claim) => settlementOf(claim, ack));
        const executor = executorOf(worker);
        const request = { executor, settlements, slots: [], channels: [] };
        const [reply, { recovered }] = await Promise.all([
          real.storeOf(node).cycle(request),
          real.recover(node, { isProven: true }),
        ]);
        const refused = new Set(reply.refused.map(({ token }) => token));
        for (const settlement of settlements) {
          const claim = worker.claims.get(settlement.slot)!;
          if (!refused.has(claim.token)) model.settle(claim, settlement);
        }
        const left = claimsOf(node).map(({ job }) => job.id);
        sameAll(
          "recovered",
          left,
          recovered.map(({ jobId }) => jobId),
        );
        model.remove(node, { isCrash: true });
      },
    }),
);

type Knowledge = "known" | "unknown" | "ended";

/** A worker that lost replies knows some of its claims, and some that have ended. */
const reconcile = fc
  .record({
    worker: fc.nat(),
    slots: fc.array(fc.constantFrom<Knowledge>("known", "known", "unknown", "ended"), {
      minLength: slotsOfWorker,
      maxLength: slotsOfWorker,
    }),
    isOldGeneration: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
    isTwice: fc.boolean(),
  })
  .map(
    ({ worker: index, slots, isOldGeneration, isTwice }) =>
      new Step({
        name: `reconcile(worker ${index}, ${slots.join(" ")}${isOldGeneration ? ", old generation" : ""}${isTwice ? ", twice" : ""})`,
        canBeTaken: ({ nodes }) => nodes.length > 0,
        take: async (model, real) => {
          const worker = pick(model.workers, index)!;
          const known: ClaimReference[] = [];
          const kept = new Set<ModelClaim>();
          for (const [slot, knowledge] of slots.entries()) {
            const claim = worker.claims.get(slot);
            const ended = model.ended.find((each) => each.slot === slot && each.worker === worker);
            if (knowledge === "known" && claim !== undefined) {
              known.push({ slot, token: claim.token });
              kept.add(claim);
            } else if (knowledge === "ended" && ended !== undefined) known.push({ slot, token: ended.token });
          }
          const generation = model.nextName("generation");
          const old = isOldGeneration ? "never-granted" : worker.lastGeneration;
          const isCurrent = worker.generation !== undefined && !isOldGeneration;
          const store = real.storeOf(worker.node);
          const call = () =>
            store.reconcile({ ...executorOf(worker), generation: old }, generation, known, slotsOfWorker);
          const reply = await call();
          same("is current", isCurrent, reply.isCurrent);
          if (!isCurrent) return same("requeued", 0, reply.requeued);
          const lost = [...worker.claims.values()].filter((claim) => !kept.has(claim));
          same("requeued", lost.length, reply.requeued);
          const missing = known.filter(({ token }) => ![...kept].some((claim) => claim.token === token));
          const name = ({ slot, token }: ClaimReference) => `${slot} ${token}`;
          sameAll("missing", missing.map(name), reply.missing.map(name));
          for (const claim of lost) model.putBack(claim);
          worker.generation = generation;
          worker.lastGeneration = generation;
          if (isTwice) same("requeued again", 0, (await call()).requeued);
        },
      }),
  );

/** The bytes of a claim are to be had under its token alone. */
const readClaim = fc.record({ claim: fc.nat(), isEnded: fc.boolean() }).map(
  ({ claim: index, isEnded }) =>
    new Step({
      name: `readClaim(${isEnded ? "ended " : ""}${index})`,
      canBeTaken: (model) => (isEnded ? model.ended : model.claims).length > 0,
      take: async (model, real) => {
        const claim = pick(isEnded ? model.ended : model.claims, index)!;
        const bytes = await real.storeOf(claim.worker.node).claimedBytes(executorOf(claim.worker), claim);
        holds((bytes === undefined) === isEnded, `bytes of ${claim.job.id}: ${bytes?.length ?? "none"}`);
      },
    }),
);

/** What a worker that is gone sends late writes nothing. */
const settleLate = fc.nat().map(
  (index) =>
    new Step({
      name: `settleLate(${index})`,
      canBeTaken: ({ ended, nodes }) => ended.length > 0 && nodes.length > 0,
      take: async (model, real) => {
        const settlements: Settlement[] = model.ended
          .slice(index % model.ended.length)
          .slice(0, 5)
          .map((claim) => settlementOf(claim, { outcome: "retry", delaySeconds: 0, asBytes: false }));
        const worker = model.ended[index % model.ended.length]!.worker;
        const reply = await cycleOf(real, worker, { settlements, slots: [], channels: [] });
        same("refused", settlements.length, reply.refused.length);
      },
    }),
);

function claimsOf(node: ModelNode): ModelClaim[] {
  return node.workers.flatMap(({ claims }) => [...claims.values()]);
}

export const livingSteps = {
  startNode,
  grant,
  revoke,
  closeForReservations,
  leave,
  beat,
  expire,
  recover,
  recoverWhileSettling,
  reconcile,
  readClaim,
  settleLate,
};
