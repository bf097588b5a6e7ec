import type { CycleRequest, Settlement } from "../store.ts";
import { claimKey, type Engine } from "./engine.ts";
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
  /** Undefined: the executor is not stored, and holds nothing. */
  readonly executorKey: number | undefined;
  /** What is stored for the slots in question. Those that are settled are taken out. */
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
  private readonly requeued: number[] = [];
  private processed = 0;
  private failed = 0;
  private hasArchived = false;

  constructor(parts: SettlingParts) {
    this.parts = parts;
  }

  /** @returns the executor's generation, if it has one */
  run(): string | undefined {
    for (const settlement of this.parts.request.settlements) this.settle(settlement);
    if (this.requeued.length > 0) this.requeue();
    if (this.hasArchived) this.trimArchive();
    return this.count(this.processed, this.failed);
  }

  /** @param kept slots whose claims have been overwritten meanwhile */
  removeClaims(kept: ReadonlySet<number>): void {
    const { statements } = this.parts;
    for (const slot of this.settledSlots) if (!kept.has(slot)) statements.deleteClaim.run(this.keyOf(slot));
  }

  /** With the executor, whose row is written anyway; else with the file. @returns as `run` */
  count(processed: number, failed: number): string | undefined {
    const { statements, executorKey, request } = this.parts;
    const { ahead = null, executor } = request;
    const hasAny = processed > 0 || failed > 0;
    if (executorKey !== undefined) {
      const own =
        hasAny || ahead !== null
          ? statements.countSettled.get(executorKey, processed, failed, ahead, executor.generation)
          : statements.generation.get(executorKey);
      if (own !== null) return own.token ?? undefined;
    }
    if (processed > 0) statements.count.run(processed, "processed");
    if (failed > 0) statements.count.run(failed, "failed");
    return undefined;
  }

  private settle(settlement: Settlement): void {
    if ("delaySeconds" in settlement && !Number.isFinite(settlement.delaySeconds)) {
      const reason = `expected a finite number of seconds as the delay, got ${settlement.delaySeconds}`;
      this.blocked.push({ settlement, reason });
      return;
    }
    const isClaimed = settlement.token !== "";
    const hasEnded = isClaimed ? this.settleClaim(settlement) : this.settleUnclaimed(settlement);
    if (!hasEnded) this.refused.push(settlement);
    else if (settlement.outcome === "ack") this.processed += isClaimed ? 1 : 0;
    else if (settlement.outcome !== "requeue" && settlement.outcome !== "postpone") this.failed += 1;
  }

  private settleClaim(settlement: Settlement): boolean {
    const claim = this.parts.claims.get(settlement.slot);
    if (claim?.token !== settlement.token) return false;
    this.parts.claims.delete(settlement.slot);
    if (settlement.outcome === "requeue" && claim.isLost === 0) {
      this.requeued.push(settlement.slot);
      return true;
    }
    this.settledSlots.push(settlement.slot);
    if (claim.isLost === 1) return false;
    if (claim.standing !== null) this.judge(settlement);
    // A job that is done goes with its claim.
    if (settlement.outcome === "retry" || settlement.outcome === "archive") this.move(settlement);
    if (settlement.outcome === "postpone") this.postpone(settlement.delaySeconds, settlement.slot);
    if (claim.body !== null) this.parts.statements.deleteBody.run(claim.body);
    return true;
  }

  /** A suspicion ends with its job; one that was postponed has waited once more. */
  private judge({ outcome, slot }: Settlement): void {
    const { statements } = this.parts;
    const id = statements.idOfClaimed.get(this.keyOf(slot))?.id;
    if (typeof id !== "string" || outcome === "retry") return;
    if (outcome === "postpone") return void statements.countWait.run(id);
    statements.acquit.run(id);
    statements.dropCrashes.run(id);
  }

  private postpone(delaySeconds: number, slot: number): void {
    this.parts.statements.postponeClaimed.run(this.parts.now + delaySeconds, this.keyOf(slot));
  }

  /** The one that was reserved last first: each comes before the others. */
  private requeue(): void {
    const { statements, engine } = this.parts;
    const places = (slot: number) => statements.placeOf.get(this.keyOf(slot))?.place ?? 0;
    const lastFirst = this.requeued.map((slot) => ({ slot, place: places(slot) }));
    lastFirst.sort((one, other) => other.place - one.place);
    for (const { slot } of lastFirst) {
      statements.requeueClaimed.run(this.keyOf(slot));
      statements.deleteClaim.run(this.keyOf(slot));
    }
    engine.announce();
  }

  private move(settlement: Moved): void {
    const { statements, engine } = this.parts;
    const named = channelIn(settlement.payload);
    const channel = named === undefined ? null : engine.channelId(statements, named);
    const { state, at } = this.destination(settlement);
    statements.moveClaimed.run(channel, state, at, settlement.payload, this.keyOf(settlement.slot));
  }

  private keyOf(slot: number): number {
    return claimKey(this.parts.executorKey ?? 0, slot);
  }

  /** At-most-once: the row was deleted when the job was reserved; only where a failed job goes is left. */
  private settleUnclaimed(settlement: Settlement): boolean {
    if (settlement.outcome === "requeue" || settlement.outcome === "postpone") return false;
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
