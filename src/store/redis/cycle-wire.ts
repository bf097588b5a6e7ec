import type { CycleReply, CycleRequest, Reservation, Settlement } from "../store.ts";
import { suspicionFrom } from "../suspicion.ts";
import type { RedisArgument } from "./connection.ts";

/** What one call settles at most, in number and in bytes of payload, but always one. */
const maxSettlements = 200;
const maxSettledBytes = 512 * 1024;
/** What one call reserves at most. */
const maxReservations = 200;

export interface ArchiveLimits {
  readonly discardedLimit: number;
  /** Days. */
  readonly discardedRetention: number;
}

/** The settlements in parts of which one call can carry out each; at least one part, which may be empty. */
export function settlementParts(settlements: readonly Settlement[]): Settlement[][] {
  let part: Settlement[] = [];
  const parts = [part];
  let bytes = 0;
  for (const settlement of settlements) {
    const size = "payload" in settlement ? settlement.payload.length : 0;
    if (part.length >= maxSettlements || (part.length > 0 && bytes + size > maxSettledBytes)) {
      part = [];
      parts.push(part);
      bytes = 0;
    }
    part.push(settlement);
    bytes += size;
  }
  return parts;
}

/** The arguments of `lua/cycle.lua` behind the nonce. */
export function cycleArguments(
  request: CycleRequest,
  prefix: string,
  { discardedLimit, discardedRetention }: ArchiveLimits,
): RedisArgument[] {
  const { executor, settlements, channels, tokenBase = "", ahead } = request;
  const args: RedisArgument[] = [
    prefix,
    executor.executor,
    executor.generation,
    tokenBase,
    request.isAtMostOnce ? "1" : "0",
    ahead ?? "",
    `${discardedLimit} ${Math.round(discardedRetention * 86_400)}`,
  ];
  pushSettlements(args, settlements);
  const slots = slotsOf(request);
  args.push(slots.length, ...slots, channels.length);
  for (const { channel, quota } of channels) args.push(channel, quota);
  return args;
}

/** The short form only where all of them are acknowledgements: the script keeps the order. */
function pushSettlements(args: RedisArgument[], settlements: readonly Settlement[]): void {
  if (settlements.every(({ outcome, token }) => outcome === "ack" && token !== "")) {
    args.push(settlements.length, 0);
    for (const { slot, token } of settlements) args.push(slot, token);
    return;
  }
  args.push(0, settlements.length);
  for (const settlement of settlements) {
    args.push(
      settlement.slot,
      settlement.token,
      settlement.outcome,
      settlement.jobId,
      "delaySeconds" in settlement ? settlement.delaySeconds : 0,
      "payload" in settlement ? settlement.payload : "",
    );
  }
}

function slotsOf({ slots }: CycleRequest): readonly number[] {
  return slots.length > maxReservations ? slots.slice(0, maxReservations) : slots;
}

type CycleWire = [
  seconds: string,
  microseconds: string,
  isCurrent: number,
  runs: number[],
  payloads: string[],
  more: 0 | MoreWire,
];

type MoreWire = [
  strays: number,
  garbage: number,
  refused: number[],
  blocked: (number | string)[],
  held: number[],
  broken: (number | string)[],
  filled: number[],
  earlierAttempts: number[],
  suspicions: (number | string)[],
];

const nothingMore: MoreWire = [0, 0, [], [], [], [], [], [], []];

/** Reads the reply of `lua/cycle.lua`. */
export function cycleReply(wire: unknown[], request: CycleRequest): CycleReply {
  const [seconds, microseconds, isCurrent, runs, payloads, rest] = wire as CycleWire;
  const [strays, garbage, refused, blocked, held, broken, filled, earlierAttempts, suspicions] =
    rest === 0 ? nothingMore : rest;
  const settlementAt = (index: unknown) => request.settlements[Number(index)] as Settlement;
  const channelAt = (index: unknown) => request.channels[Number(index)]?.channel ?? "";
  return {
    nowMs: Number(seconds) * 1000 + Math.floor(Number(microseconds) / 1000),
    isCurrent: isCurrent === 1,
    hasStrays: strays === 1,
    archivedAsGarbage: garbage,
    refused: refused.map(settlementAt),
    blocked: pairs(blocked).map(([index, reason]) => ({
      settlement: settlementAt(index),
      reason: String(reason),
    })),
    held: held.map(channelAt),
    broken: pairs(broken).map(([index, reason]) => ({ channel: channelAt(index), reason: String(reason) })),
    reserved: suspected(
      reservations({
        request,
        runs,
        payloads,
        slots: rest === 0 ? slotsOf(request) : filled,
        earlierAttempts,
      }),
      suspicions,
    ),
  };
}

function suspected(reserved: Reservation[], suspicions: readonly (number | string)[]): Reservation[] {
  for (const [index, json] of pairs(suspicions)) {
    const at = Number(index);
    reserved[at] = { ...(reserved[at] as Reservation), suspicion: suspicionFrom(String(json)) };
  }
  return reserved;
}

/** The payloads stand in the order of their slots, in runs of one channel each. */
function reservations(found: {
  request: CycleRequest;
  runs: readonly number[];
  payloads: readonly string[];
  slots: readonly number[];
  earlierAttempts: readonly number[];
}): Reservation[] {
  const { request, runs, payloads, slots, earlierAttempts } = found;
  const result: Reservation[] = [];
  for (let run = 0; run < runs.length; run += 2) {
    const channel = request.channels[runs[run] as number]?.channel ?? "";
    for (let left = runs[run + 1] as number; left > 0; left--) {
      const at = result.length;
      const slot = slots[at] as number;
      result.push({
        slot,
        token: request.isAtMostOnce ? "" : `${request.tokenBase}.${slot}`,
        channel,
        earlierAttempts: earlierAttempts[at] ?? 0,
        raw: payloads[at] as string,
      });
    }
  }
  return result;
}

function pairs<T>(flat: readonly T[]): [T, T][] {
  const result: [T, T][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) result.push([flat[i] as T, flat[i + 1] as T]);
  return result;
}
