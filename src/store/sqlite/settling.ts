import type { CycleRequest, Settlement } from "../store.ts";
import type { Engine } from "./engine.ts";
import { channelIn } from "./head.ts";
import { jobState } from "./schema.ts";
import type { ClaimRow, Statements } from "./statements.ts";

export interface ArchiveLimits {
  readonly discardedLimit: number;
  /** Days. */
  readonly discardedRetention: number;
}

/** The archive is trimmed by at most so many by age, and by number, in one call. */
const trimmedPerCall = 20;

type Moved = Extract<Settlement, { payload: unknown }>;

export interface SettlingParts {
  readonly engine: Engine;
  readonly statements: Statements;
  readonly request: CycleRequest;
  /** What is stored for the executor, by slot. Those that are settled are taken out. */
  readonly claims: Map<number, ClaimRow>;
  readonly now: number;
  readonly archive: ArchiveLimits;
}

/**
 * The first half of a cycle. A settlement takes effect only if its token is the stored one and its job is
 * there. The rows of settled claims are removed at the end: most are overwritten by new claims.
 */
export class Settling {
  /** Those that found no claim under their token. */
  readonly refused: Settlement[] = [];
  readonly blocked: { settlement: Settlement; reason: string }[] = [];
  private readonly parts: SettlingParts;
  private readonly settledSlots: number[] = [];
  private processed = 0;
  private failed = 0;
  private hasArchived = false;

  constructor(parts: SettlingParts) {
    this.parts = parts;
  }

  run(): void {
    for (const settlement of this.parts.request.settlements) this.settle(settlement);
    if (this.hasArchived) this.trimArchive();
  }

  /** @param kept slots whose claims have been overwritten meanwhile */
  removeClaims(kept: ReadonlySet<number>): void {
    const { statements, request } = this.parts;
    const { node, executor } = request.executor;
    for (const slot of this.settledSlots) {
      if (!kept.has(slot)) statements.deleteClaim.run(node, executor, slot);
    }
  }

  /** @param settledAtOnce jobs that were settled as they were reserved */
  count(settledAtOnce: number): void {
    const { statements } = this.parts;
    const processed = this.processed + settledAtOnce;
    if (processed > 0) statements.count.run(processed, "processed");
    if (this.failed > 0) statements.count.run(this.failed, "failed");
  }

  private settle(settlement: Settlement): void {
    if (settlement.outcome === "retry" && !Number.isFinite(settlement.delaySeconds)) {
      const reason = `expected a finite number of seconds as the delay, got ${settlement.delaySeconds}`;
      this.blocked.push({ settlement, reason });
      return;
    }
    const isClaimed = settlement.token !== "";
    const hasEnded = isClaimed ? this.settleClaim(settlement) : this.settleUnclaimed(settlement);
    if (!hasEnded) this.refused.push(settlement);
    else if (settlement.outcome === "ack") this.processed += isClaimed ? 1 : 0;
    else if (settlement.outcome !== "requeue") this.failed += 1;
  }

  private settleClaim(settlement: Settlement): boolean {
    const claim = this.parts.claims.get(settlement.slot);
    if (claim?.token !== settlement.token) return false;
    this.parts.claims.delete(settlement.slot);
    this.settledSlots.push(settlement.slot);
    return this.carryOut(settlement, claim.seq).changes > 0;
  }

  private carryOut(settlement: Settlement, seq: number): { changes: number } {
    const { statements, engine } = this.parts;
    switch (settlement.outcome) {
      case "ack":
      case "drop":
        return statements.deleteJob.run(seq);
      case "requeue":
        engine.announce();
        return statements.requeueJob.run(seq);
      case "retry":
      case "archive":
        return this.move(settlement, seq);
    }
  }

  private move(settlement: Moved, seq: number): { changes: number } {
    const { statements, engine } = this.parts;
    const named = channelIn(settlement.payload);
    const channel =
      named === undefined
        ? (statements.channelOf.get(seq)?.channel ?? 0)
        : engine.channelId(statements, named);
    const { state, at } = this.destination(settlement);
    return statements.settleJob.run(state, at, channel, settlement.payload, seq);
  }

  /** At-most-once: the row was deleted when the job was reserved; only where a failed job goes is left. */
  private settleUnclaimed(settlement: Settlement): boolean {
    if (settlement.outcome === "requeue") return false;
    if (settlement.outcome === "ack" || settlement.outcome === "drop") return true;
    const { statements, engine } = this.parts;
    const channel = engine.channelId(statements, channelIn(settlement.payload) ?? "default");
    const { state, at } = this.destination(settlement);
    statements.insertJob.run(channel, state, at, settlement.jobId, null, settlement.payload);
    return true;
  }

  private destination(settlement: Moved): { state: number; at: number } {
    const { now } = this.parts;
    if (settlement.outcome === "retry")
      return { state: jobState.retrying, at: now + settlement.delaySeconds };
    this.hasArchived = true;
    return { state: jobState.discarded, at: now };
  }

  /** A few entries a call, so that no call is long. */
  private trimArchive(): void {
    const { statements, archive, now } = this.parts;
    statements.trimByAge.run(now - archive.discardedRetention * 86_400);
    const over = (statements.countArchive.get()?.n ?? 0) - archive.discardedLimit;
    if (over > 0) statements.trimOldest.run(Math.min(over, trimmedPerCall));
  }
}
