import type { CycleReply, CycleRequest, Reservation, Settlement } from "../store.ts";
import type { RedisArgument } from "./connection.ts";

/** A cycle reserves at most this many bytes, but always one envelope (protocol, section 1). */
const maxReservedBytes = 1024 * 1024;

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
  archive: ArchiveLimits,
): RedisArgument[] {
  const { executor, settlements, channels } = request;
  const slots = request.slots.slice(0, maxReservations);
  const args: RedisArgument[] = [
    prefix,
    executor.node,
    executor.executor,
    executor.generation,
    request.isAtMostOnce ? "1" : "0",
    archive.discardedLimit,
    archive.discardedRetention * 86_400,
    maxReservedBytes,
    settlements.length,
  ];
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
  args.push(slots.length, ...slots, channels.length);
  for (const { channel, quota } of channels) args.push(channel, quota);
  return args;
}

type CycleWire = [
  nowMs: number,
  isCurrent: number,
  strays: number,
  garbage: number,
  refused: number[],
  blocked: (number | string)[],
  held: number[],
  broken: (number | string)[],
  reserved: (number | string)[],
];

/** Reads the reply of `lua/cycle.lua`; the tokens it made begin with the call's nonce. */
export function cycleReply(wire: unknown[], nonce: string, request: CycleRequest): CycleReply {
  const [nowMs, isCurrent, strays, garbage, refused, blocked, held, broken, reserved] = wire as CycleWire;
  const settlementAt = (index: unknown) => request.settlements[Number(index)] as Settlement;
  const channelAt = (index: unknown) => request.channels[Number(index)]?.channel ?? "";
  return {
    nowMs,
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
    reserved: reservations(reserved, nonce, channelAt, request.isAtMostOnce ?? false),
  };
}

function reservations(
  flat: readonly (number | string)[],
  nonce: string,
  channelAt: (index: unknown) => string,
  isAtMostOnce: boolean,
): Reservation[] {
  const result: Reservation[] = [];
  for (let i = 0; i < flat.length; i += 4) {
    const slot = flat[i] as number;
    result.push({
      slot,
      token: isAtMostOnce ? "" : `${nonce}.${slot}`,
      channel: channelAt(flat[i + 1]),
      earlierAttempts: flat[i + 2] as number,
      raw: flat[i + 3] as string,
    });
  }
  return result;
}

function pairs<T>(flat: readonly T[]): [T, T][] {
  const result: [T, T][] = [];
  for (let i = 0; i + 1 < flat.length; i += 2) result.push([flat[i] as T, flat[i + 1] as T]);
  return result;
}
