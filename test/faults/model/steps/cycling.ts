import fc from "fast-check";
import type { CycleReply, Settlement, SettlementOutcome } from "../../../../src/store/store.ts";
import {
  channelNames,
  executorOf,
  type Model,
  type ModelClaim,
  type ModelWorker,
  pick,
  pickWorker,
  slotsOfWorker,
} from "../model.ts";
import type { Real } from "../real.ts";
import { Step } from "../step.ts";
import { holds, same, sameAll } from "./expecting.ts";

type Outcome = SettlementOutcome["outcome"];
/** How a claim is to end, before it is known which one. */
export interface Ending {
  readonly outcome: Outcome;
  readonly delaySeconds: number;
  readonly asBytes: boolean;
}

const outcomes = [
  "ack",
  "drop",
  "requeue",
  "postpone",
  "retry",
  "archive",
] as const satisfies readonly Outcome[];
/** Fails to compile where an outcome is missing above. */
type Missing = Exclude<Outcome, (typeof outcomes)[number]>;
const noneIsMissing: Missing extends never ? true : false = true;

const ending: fc.Arbitrary<Ending> = fc.record({
  outcome: fc.constantFrom(...outcomes),
  delaySeconds: fc.constantFrom(0, 3600),
  asBytes: fc.boolean(),
});

/** Channels in the order in which they are asked, each with a quota. */
const shares = fc
  .oneof(
    { weight: 2, arbitrary: fc.shuffledSubarray([...channelNames], { minLength: channelNames.length }) },
    fc.shuffledSubarray([...channelNames], { minLength: 1 }),
  )
  .chain((names) =>
    fc.tuple(...names.map((channel) => fc.record({ channel: fc.constant(channel), quota: fc.nat(2) }))),
  );

const wantedSlots = fc.shuffledSubarray([...Array(slotsOfWorker).keys()]);

/** Settles some of a worker's claims, among them such that have ended or are others', and reserves. */
const cycle = fc
  .record({
    worker: fc.nat(),
    ends: fc.array(fc.record({ claim: fc.nat(), ending, isTwice: fc.boolean() }), {
      maxLength: 3,
    }),
    stale: fc.array(fc.record({ claim: fc.nat(), ending, isOfOther: fc.boolean() }), { maxLength: 2 }),
    slots: wantedSlots,
    channels: shares,
    isAhead: fc.boolean(),
    hasTokenBase: fc.boolean(),
  })
  .map(
    ({ worker: index, ends, stale, slots, channels, isAhead, hasTokenBase }) =>
      new Step({
        name: `cycle(worker ${index}, ends ${ends.map(({ claim, ending: { outcome }, isTwice }) => `${claim}: ${outcome}${isTwice ? " twice" : ""}`).join(" ")}, ${stale.length} stale, slots ${slots.join(" ")} from ${channels.map(({ channel }) => channel).join(" ")}${isAhead ? ", ahead" : ""}${hasTokenBase ? ", own tokens" : ""})`,
        canBeTaken: ({ nodes }) => nodes.length > 0,
        take: async (model, real) => {
          const worker = pickWorker(model, index)!;
          const wanted: { claim: ModelClaim; settlement: Settlement }[] = [];
          const settlements: Settlement[] = [];
          const refused: Settlement[] = [];
          for (const { claim: at, ending: how, isTwice } of ends) {
            const claim = pick([...worker.claims.values()], at);
            if (claim === undefined || wanted.some((each) => each.claim === claim)) continue;
            const settlement = settlementOf(claim, how);
            wanted.push({ claim, settlement });
            settlements.push(settlement);
            if (!isTwice) continue;
            const again = { ...settlement };
            settlements.push(again);
            refused.push(again);
          }
          for (const { claim: at, ending: how, isOfOther } of stale) {
            const others = model.claims.filter((claim) => claim.worker !== worker);
            const claim = pick(isOfOther ? others : model.ended, at);
            if (claim === undefined) continue;
            const settlement = settlementOf(claim, how);
            settlements.push(settlement);
            refused.push(settlement);
          }
          const marks = {
            ...(isAhead ? { ahead: worker.lastAhead + 1 } : {}),
            ...(hasTokenBase ? { tokenBase: `own${model.nextName("base")}` } : {}),
          };
          const reply = await cycleOf(real, worker, { settlements, slots, channels, ...marks });
          const name = ({ slot, token, outcome }: Settlement) => `${outcome} of ${token} in slot ${slot}`;
          sameAll("refused", refused.map(name), reply.refused.map(name));
          for (const { claim, settlement } of wanted) model.settle(claim, settlement);
          if (reply.isCurrent && isAhead) worker.lastAhead += 1;
          takeReservations(model, worker, { reply, slots, channels, ...marks });
        },
      }),
  );

/** Every worker of every node asks for jobs at the same time. */
const reserveTogether = shares.map(
  (channels) =>
    new Step({
      name: `reserveTogether(${channels.map(({ channel }) => channel).join(" ")})`,
      canBeTaken: ({ nodes }) => nodes.length > 1,
      take: async (model, real) => {
        const slots = [...Array(slotsOfWorker).keys()];
        const asked = model.workers.map(async (worker) => {
          const reply = await cycleOf(real, worker, { settlements: [], slots, channels });
          return { worker, reply };
        });
        for (const { worker, reply } of await Promise.all(asked)) {
          takeReservations(model, worker, { reply, slots, channels, hasRivals: true });
        }
      },
    }),
);

/** Delivered at most once: settled as they are reserved. */
const reserveAtMostOnce = fc.record({ worker: fc.nat(), slots: wantedSlots, channels: shares }).map(
  ({ worker: index, slots, channels }) =>
    new Step({
      name: `reserveAtMostOnce(worker ${index}, ${slots.length} slots)`,
      canBeTaken: ({ nodes }) => nodes.length > 0,
      take: async (model, real) => {
        const worker = pickWorker(model, index)!;
        const free = slots.filter((slot) => !worker.claims.has(slot));
        const reply = await cycleOf(real, worker, {
          settlements: [],
          slots: free,
          channels,
          isAtMostOnce: true,
        });
        const names = channels.map(({ channel }) => channel);
        const given = givenJobs(model, names, reply);
        checkAmount(model, worker, { given: given.length, free: free.length, channels: names });
        for (const job of given) {
          job.state = "gone";
          model.processed += 1;
          model.unclaimed.push(job);
        }
      },
    }),
);

/** The end of a job that was delivered at most once. */
const settleUnclaimed = fc.record({ worker: fc.nat(), job: fc.nat(), ending }).map(
  ({ worker: index, job: at, ending: how }) =>
    new Step({
      name: `settleUnclaimed(worker ${index}, job ${at}, ${how.outcome})`,
      canBeTaken: ({ nodes, unclaimed }) => nodes.length > 0 && unclaimed.length > 0,
      take: async (model, real) => {
        const job = pick(model.unclaimed, at)!;
        const worker = pickWorker(model, index)!;
        const settlement: Settlement = { slot: 0, token: "", jobId: job.id, ...outcomeOf(job.payload, how) };
        const reply = await cycleOf(real, worker, {
          settlements: [settlement],
          slots: [],
          channels: [],
          isAtMostOnce: true,
        });
        const isRefused = how.outcome === "requeue" || how.outcome === "postpone";
        same("refused", isRefused ? 1 : 0, reply.refused.length);
        if (isRefused) return;
        model.unclaimed.splice(model.unclaimed.indexOf(job), 1);
        model.conclude(job, settlement);
      },
    }),
);

export function settlementOf({ job, slot, token }: ModelClaim, how: Ending): Settlement {
  return { slot, token, jobId: job.id, ...outcomeOf(job.payload, how) };
}

function outcomeOf(text: string, { outcome, delaySeconds, asBytes }: Ending): SettlementOutcome {
  const payload = asBytes ? Buffer.from(text) : text;
  if (outcome === "retry") return { outcome, delaySeconds, payload };
  if (outcome === "postpone") return { outcome, delaySeconds };
  return outcome === "archive" ? { outcome, payload } : { outcome };
}

interface Asked {
  readonly settlements: readonly Settlement[];
  readonly slots: readonly number[];
  readonly channels: readonly { readonly channel: string; readonly quota: number }[];
  readonly isAtMostOnce?: boolean;
  readonly ahead?: number;
  readonly tokenBase?: string;
}

export async function cycleOf(real: Real, worker: ModelWorker, asked: Asked): Promise<CycleReply> {
  const reply = await real.storeOf(worker.node).cycle({ executor: executorOf(worker), ...asked });
  same("is current", worker.generation !== undefined, reply.isCurrent);
  same("blocked", 0, reply.blocked.length);
  same("broken", 0, reply.broken.length);
  same("garbage", 0, reply.archivedAsGarbage);
  return reply;
}

interface Given extends Omit<Asked, "settlements" | "isAtMostOnce"> {
  readonly reply: CycleReply;
  /** Others may have taken what was there. */
  readonly hasRivals?: boolean;
}

/** Checks that what was reserved could be, and gives the claims to the worker. */
function takeReservations(model: Model, worker: ModelWorker, given: Given): void {
  const { reply, slots, channels, hasRivals, ahead, tokenBase } = given;
  const names = channels.map(({ channel }) => channel);
  const free = slots.filter((slot) => !worker.claims.has(slot));
  const isAsking = slots.length > 0 && worker.generation !== undefined;
  same("has strays", isAsking && free.length < slots.length, reply.hasStrays);
  const jobs = givenJobs(model, names, reply);
  if (hasRivals !== true)
    checkAmount(model, worker, { given: jobs.length, free: free.length, channels: names });
  for (const [i, { slot, token, suspicion }] of reply.reserved.entries()) {
    const { crashes, suspicion: known } = jobs[i]!;
    same(
      "suspicion",
      known && JSON.stringify({ crashes, isPoison: known.isPoison, waits: known.waits }),
      suspicion &&
        JSON.stringify({
          crashes: suspicion.crashes,
          isPoison: suspicion.isPoison,
          waits: suspicion.waits,
        }),
    );
    holds(free.includes(slot) && !worker.claims.has(slot), `slot ${slot} was not free`);
    const isNew = ![...model.claims, ...model.ended].some((claim) => claim.token === token);
    holds(token !== "" && isNew, `the token ${token} is not new`);
    if (tokenBase !== undefined) same("token", `${tokenBase}.${slot}`, token);
    model.claim(worker, { job: jobs[i]!, slot, token, ahead });
  }
}

function givenJobs(model: Model, channels: readonly string[], { reserved }: CycleReply) {
  const available = model.available(channels);
  return reserved.map(({ raw, channel }) => {
    const job = model.job(idOf(raw));
    holds(available.includes(job), `${job.id} was reserved, which is ${job.state}, barred or paused`);
    same(`the payload of ${job.id}`, job.payload, withoutTimes(raw));
    same(`the channel of ${job.id}`, job.channel, channel);
    return job;
  });
}

/** A call may give less than there is, but not nothing. */
function checkAmount(
  model: Model,
  worker: ModelWorker,
  { given, free, channels }: { given: number; free: number; channels: readonly string[] },
): void {
  const most = worker.generation === undefined ? 0 : Math.min(free, model.available(channels).length);
  holds(given <= most && given >= Math.min(1, most), `${given} jobs were reserved of ${most} that could be`);
}

function idOf(raw: string): string {
  return (JSON.parse(raw) as { id: string }).id;
}

/** Promotion and requeueing renew the time at which a job was queued, and nothing else. */
function withoutTimes(raw: string): string {
  return raw.replace(/"queued_ms":\d+/, '"queued_ms":1700000000000');
}

/** A suspect begins; twice is once. */
const beginAlone = fc.record({ claim: fc.nat(), isTwice: fc.boolean() }).map(
  ({ claim: at, isTwice }) =>
    new Step({
      name: `beginAlone(${at}${isTwice ? ", twice" : ""})`,
      canBeTaken: (model) => suspectsOf(model).length > 0,
      take: async (model, real) => {
        const claim = pick(suspectsOf(model), at)!;
        const { worker } = claim;
        const store = real.storeOf(worker.node);
        const mayBegin = worker.generation !== undefined;
        same("may begin", mayBegin, await store.beginAlone(executorOf(worker), claim));
        if (isTwice) same("may begin again", mayBegin, await store.beginAlone(executorOf(worker), claim));
        if (mayBegin) claim.standing = "alone";
      },
    }),
);

function suspectsOf({ claims }: Model): ModelClaim[] {
  return claims.filter(({ standing, job }) => standing === "waiting" && job.suspicion?.isPoison === false);
}

export const cyclingSteps = { beginAlone, cycle, reserveTogether, reserveAtMostOnce, settleUnclaimed };
void noneIsMissing;
