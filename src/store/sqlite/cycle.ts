import { randomHex } from "../../foundation/ids.ts";
import type { ChannelShare, CycleReply, CycleRequest, Reservation, Settlement } from "../store.ts";
import type { Engine } from "./engine.ts";
import { failureCountOf, headOf, textOf } from "./head.ts";
import { jobState } from "./schema.ts";
import type { ClaimRow, ReadyRow, Statements } from "./statements.ts";

/** Limits of one call (protocol, section 1). */
const maxBytes = 1024 * 1024;
const maxBarred = 128;
const rowsPerStep = 16;

export interface ArchiveLimits {
  readonly discardedLimit: number;
  /** Days. */
  readonly discardedRetention: number;
}

/**
 * One cycle in one transaction: settles, then reserves. Tokens are unique by this process's random base and
 * a count.
 */
export class Cycle {
  private readonly engine: Engine;
  private readonly archive: ArchiveLimits;
  private readonly tokenBase = randomHex(6);
  private tokenCount = 0;

  constructor(engine: Engine, archive: ArchiveLimits) {
    this.engine = engine;
    this.archive = archive;
  }

  run(request: CycleRequest): Promise<CycleReply> {
    return this.engine.write((statements, now) => {
      const refused = this.settle(statements, request, now);
      const { node, executor, generation } = request.executor;
      const isCurrent = statements.generation.get(node, executor)?.generation === generation;
      const reserving = new Reserving(this.engine, statements, request, {
        now,
        nextToken: () => this.nextToken(),
      });
      if (isCurrent && request.slots.length > 0) reserving.run();
      return {
        refused,
        blocked: [],
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

  private nextToken(): string {
    this.tokenCount += 1;
    return `${this.tokenBase}${this.tokenCount.toString(36)}`;
  }

  /** @returns those that found no claim under their token */
  private settle(statements: Statements, { executor, settlements }: CycleRequest, now: number): Settlement[] {
    const refused: Settlement[] = [];
    let processed = 0;
    let failed = 0;
    for (const settlement of settlements) {
      if (settlement.token === "") {
        this.settleUnclaimed(statements, settlement, now);
        if (settlement.outcome !== "ack") failed += 1;
        continue;
      }
      const claim = statements.claim.get(executor.node, executor.executor, settlement.slot);
      if (claim?.token !== settlement.token) {
        refused.push(settlement);
        continue;
      }
      statements.deleteClaim.run(executor.node, executor.executor, settlement.slot);
      this.carryOut(statements, settlement, claim, now);
      if (settlement.outcome === "ack") processed += 1;
      else if (settlement.outcome !== "requeue") failed += 1;
    }
    if (processed > 0) statements.count.run(processed, "processed");
    if (failed > 0) statements.count.run(failed, "failed");
    return refused;
  }

  private carryOut(statements: Statements, settlement: Settlement, { seq }: ClaimRow, now: number): void {
    switch (settlement.outcome) {
      case "ack":
      case "drop":
        statements.deleteJob.run(seq);
        return;
      case "requeue":
        statements.requeueJob.run(seq);
        return;
      case "retry": {
        const channel = this.engine.channelId(statements, headOf(textOf(settlement.payload)).channel);
        statements.moveJob.run(
          jobState.retrying,
          now + settlement.delaySeconds,
          channel,
          settlement.payload,
          seq,
        );
        return;
      }
      case "archive": {
        const channel = this.engine.channelId(statements, headOf(textOf(settlement.payload)).channel);
        statements.moveJob.run(jobState.discarded, now, channel, settlement.payload, seq);
        this.trimArchive(statements, now);
      }
    }
  }

  /** At-most-once: the row was deleted when the job was reserved; only where a failed job goes is left. */
  private settleUnclaimed(statements: Statements, settlement: Settlement, now: number): void {
    if (settlement.outcome !== "retry" && settlement.outcome !== "archive") return;
    const { id, channel } = headOf(textOf(settlement.payload));
    const number = this.engine.channelId(statements, channel);
    const isRetry = settlement.outcome === "retry";
    const at = isRetry ? now + settlement.delaySeconds : now;
    const state = isRetry ? jobState.retrying : jobState.discarded;
    statements.insertJob.run(number, state, at, id, null, settlement.payload);
    if (!isRetry) this.trimArchive(statements, now);
  }

  /** A few entries a call, so that no call is long. */
  private trimArchive(statements: Statements, now: number): void {
    statements.trimByAge.run(now - this.archive.discardedRetention * 86_400);
    const over = (statements.countArchive.get()?.n ?? 0) - this.archive.discardedLimit;
    if (over > 0) statements.trimOldest.run(Math.min(over, 20));
  }
}

/** The second half of a cycle: fills free slots from the channels in their order, in two passes. */
class Reserving {
  readonly reserved: Reservation[] = [];
  readonly held: string[] = [];
  hasStrays = false;
  private readonly engine: Engine;
  private readonly statements: Statements;
  private readonly request: CycleRequest;
  private readonly now: number;
  private readonly nextToken: () => string;
  private readonly free: number[] = [];
  private readonly barriers = new Map<string, boolean>();
  private bytes = 0;
  private isFull = false;

  constructor(
    engine: Engine,
    statements: Statements,
    request: CycleRequest,
    { now, nextToken }: { now: number; nextToken: () => string },
  ) {
    this.engine = engine;
    this.statements = statements;
    this.request = request;
    this.now = now;
    this.nextToken = nextToken;
  }

  run(): void {
    this.findFreeSlots();
    const paused = new Set(this.statements.pausedChannels.all().map(({ id }) => id));
    const draws: ChannelDraw[] = [];
    for (const share of this.request.channels) {
      const id = this.engine.knownChannelId(this.statements, share.channel);
      if (id === undefined) continue;
      if (paused.has(id)) this.held.push(share.channel);
      else draws.push({ share, id, at: Number.NEGATIVE_INFINITY, seq: 0, barred: 0, isOver: false });
    }
    for (const draw of draws) this.draw(draw, draw.share.quota);
    for (const draw of draws) this.draw(draw, this.free.length);
    for (const { share, barred } of draws) {
      if (barred > 0 && !this.reserved.some(({ channel }) => channel === share.channel))
        this.held.push(share.channel);
    }
  }

  /** A slot that is called free but has a claim belongs to one its worker lost. */
  private findFreeSlots(): void {
    const { node, executor } = this.request.executor;
    for (const slot of this.request.slots) {
      const isTaken = !this.request.isAtMostOnce && this.statements.claim.get(node, executor, slot) !== null;
      if (isTaken) this.hasStrays = true;
      else this.free.push(slot);
    }
  }

  private draw(draw: ChannelDraw, limit: number): void {
    let taken = 0;
    while (!draw.isOver && !this.isFull && taken < limit && this.reserved.length < this.free.length) {
      const wanted = Math.min(limit - taken, this.free.length - this.reserved.length, rowsPerStep);
      const rows = this.statements.nextReady.all(draw.id, draw.at, draw.seq, wanted);
      if (rows.length < wanted) draw.isOver = true;
      for (const row of rows) {
        if (this.isFull) break;
        if (this.take(row, draw)) taken += 1;
      }
    }
  }

  private take(row: ReadyRow, draw: ChannelDraw): boolean {
    const size = row.payload.length;
    if (this.reserved.length > 0 && this.bytes + size > maxBytes) {
      this.isFull = true;
      return false;
    }
    draw.at = row.at;
    draw.seq = row.seq;
    if (row.barrier !== null && this.isBarred(row.barrier)) {
      draw.barred += 1;
      if (draw.barred >= maxBarred) draw.isOver = true;
      return false;
    }
    this.bytes += size;
    this.reserve(row, draw.share.channel);
    return true;
  }

  private reserve(row: ReadyRow, channel: string): void {
    const { node, executor } = this.request.executor;
    const slot = this.free[this.reserved.length] ?? 0;
    const raw = textOf(row.payload);
    if (this.request.isAtMostOnce) {
      this.statements.deleteJob.run(row.seq);
      this.statements.count.run(1, "processed");
      this.reserved.push({ slot, token: "", channel, raw, earlierAttempts: 0 });
      return;
    }
    const token = this.nextToken();
    const attempt = failureCountOf(raw) + 1;
    this.statements.claimJob.run(row.seq);
    this.statements.addClaim.run(node, executor, slot, token, row.seq, row.id, this.now, attempt);
    this.reserved.push({ slot, token, channel, raw, earlierAttempts: 0 });
  }

  private isBarred(barrier: string): boolean {
    const known = this.barriers.get(barrier) ?? this.statements.barrier.get(barrier, this.now) !== null;
    this.barriers.set(barrier, known);
    return known;
  }
}

interface ChannelDraw {
  readonly share: ChannelShare;
  readonly id: number;
  /** The last row looked at. */
  at: number;
  seq: number;
  barred: number;
  isOver: boolean;
}
