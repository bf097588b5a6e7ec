import { randomHex } from "../../foundation/ids.ts";
import type { CycleReply, CycleRequest } from "../store.ts";
import { claimKey, type Engine } from "./engine.ts";
import { Reserving } from "./reserving.ts";
import { type ArchiveLimits, Settling } from "./settling.ts";
import type { ClaimRow, Statements } from "./statements.ts";

/** One cycle in one transaction: settles, then reserves. */
export class Cycle {
  private readonly engine: Engine;
  private readonly archive: ArchiveLimits;

  constructor(engine: Engine, archive: ArchiveLimits) {
    this.engine = engine;
    this.archive = archive;
  }

  run(request: CycleRequest): Promise<CycleReply> {
    return this.engine.write((statements, now) => {
      const { engine, archive } = this;
      const executorKey = engine.executorKey(statements, request.executor);
      const claims = executorKey === undefined ? new Map() : claimsOf(statements, executorKey, request);
      const parts = { engine, statements, request, executorKey, claims, now };
      const settling = new Settling({ ...parts, archive });
      const generation = settling.run();
      const isCurrent = generation === request.executor.generation;
      const reserving = new Reserving({ ...parts, tokenBase: request.tokenBase ?? randomHex(8) });
      if (isCurrent && request.slots.length > 0) reserving.run();
      settling.removeClaims(reserving.takenSlots);
      if (reserving.settledAtOnce > 0) settling.count(reserving.settledAtOnce, 0);
      return {
        refused: settling.refused,
        blocked: settling.blocked,
        reserved: reserving.reserved,
        isCurrent,
        held: reserving.held,
        broken: [],
        archivedAsGarbage: 0,
        hasStrays: reserving.hasStrays,
        nowMs: Math.floor(now * 1000),
      };
    });
  }
}

/** What is stored for the slots that the request names, and those between them. */
function claimsOf(
  statements: Statements,
  executorKey: number,
  { settlements, slots }: CycleRequest,
): Map<number, ClaimRow> {
  let first = Number.POSITIVE_INFINITY;
  let last = -1;
  const widen = (slot: number) => {
    if (slot < first) first = slot;
    if (slot > last) last = slot;
  };
  for (const { slot, token } of settlements) if (token !== "") widen(slot);
  for (const slot of slots) widen(slot);
  const claims = new Map<number, ClaimRow>();
  if (last === -1) return claims;
  const [from, to] = [claimKey(executorKey, first), claimKey(executorKey, last)];
  for (const claim of statements.claimsBetween.all(from, to)) claims.set(claim.slot, claim);
  return claims;
}
