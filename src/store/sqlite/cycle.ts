import { randomHex } from "../../foundation/ids.ts";
import type { CycleReply, CycleRequest } from "../store.ts";
import type { Engine } from "./engine.ts";
import { Reserving } from "./reserving.ts";
import { type ArchiveLimits, Settling } from "./settling.ts";

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
      const { node, executor, generation } = request.executor;
      const claims = new Map(statements.claimsOf.all(node, executor).map((claim) => [claim.slot, claim]));
      const settling = new Settling({
        engine: this.engine,
        statements,
        request,
        claims,
        now,
        archive: this.archive,
      });
      settling.run();
      const isCurrent = statements.generation.get(node, executor)?.generation === generation;
      const reserving = new Reserving({
        engine: this.engine,
        statements,
        request,
        claims,
        now,
        tokenBase: request.tokenBase ?? randomHex(8),
      });
      if (isCurrent && request.ahead !== undefined) statements.setAhead.run(node, executor, request.ahead);
      if (isCurrent && request.slots.length > 0) reserving.run();
      settling.removeClaims(reserving.takenSlots);
      settling.count(reserving.settledAtOnce);
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
