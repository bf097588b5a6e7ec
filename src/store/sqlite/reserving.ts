import type { ChannelShare, CycleRequest, Reservation } from "../store.ts";
import type { Engine } from "./engine.ts";
import { byteLength, failureCountOf, textOf } from "./head.ts";
import type { ClaimRow, ReadyRow, Statements } from "./statements.ts";

/** Limits of one call (protocol, section 1). */
const maxBytes = 1024 * 1024;
const maxBarred = 128;

export interface ReservingParts {
  readonly engine: Engine;
  readonly statements: Statements;
  readonly request: CycleRequest;
  /** What is stored for the executor and was not settled, by slot. */
  readonly claims: ReadonlyMap<number, ClaimRow>;
  readonly now: number;
  /** What the tokens of the new claims begin with. */
  readonly tokenBase: string;
}

interface ChannelDraw {
  readonly share: ChannelShare;
  readonly id: number;
  /** Looked at and not taken. */
  barred: number;
  taken: number;
  isOver: boolean;
}

/** The second half of a cycle: fills free slots from the channels in their order, in two passes. */
export class Reserving {
  readonly reserved: Reservation[] = [];
  readonly held: string[] = [];
  hasStrays = false;
  /** Jobs that are over for the store (at-most-once). */
  settledAtOnce = 0;
  private readonly parts: ReservingParts;
  private readonly free: number[] = [];
  private readonly barriers = new Map<string, boolean>();
  private bytes = 0;
  private isFull = false;

  constructor(parts: ReservingParts) {
    this.parts = parts;
  }

  /** Slots with a new claim. */
  get takenSlots(): ReadonlySet<number> {
    return new Set(this.reserved.filter(({ token }) => token !== "").map(({ slot }) => slot));
  }

  run(): void {
    this.findFreeSlots();
    const { statements, request, engine } = this.parts;
    const paused = new Set(statements.pausedChannels.all().map(({ id }) => id));
    const draws: ChannelDraw[] = [];
    for (const share of request.channels) {
      const id = engine.knownChannelId(statements, share.channel);
      if (id === undefined) continue;
      if (!paused.has(id)) draws.push({ share, id, barred: 0, taken: 0, isOver: false });
      else if (statements.hasReady.get(id) !== null) this.held.push(share.channel);
    }
    for (const draw of draws) this.draw(draw, draw.share.quota);
    for (const draw of draws) this.draw(draw, this.free.length);
    for (const { share, barred, taken } of draws) {
      if (barred > 0 && taken === 0) this.held.push(share.channel);
    }
  }

  /** A slot that is called free but has a claim belongs to one its worker lost. */
  private findFreeSlots(): void {
    const { request, claims } = this.parts;
    for (const slot of request.slots) {
      if (claims.has(slot) && !request.isAtMostOnce) this.hasStrays = true;
      else this.free.push(slot);
    }
  }

  /** Jobs that were taken stand in another state at once, so each pass begins at the oldest. */
  private draw(draw: ChannelDraw, limit: number): void {
    const wanted = Math.min(limit, this.free.length - this.reserved.length);
    if (draw.isOver || this.isFull || wanted <= 0) return;
    draw.barred = 0;
    const rows = this.chosen(draw, wanted);
    for (const row of rows) this.reserve(row, draw.share.channel);
    draw.taken += rows.length;
    if (rows.length < wanted) draw.isOver = true;
  }

  /** All rows are read before the first one is changed. */
  private chosen(draw: ChannelDraw, wanted: number): ReadyRow[] {
    const { statements } = this.parts;
    const rows: ReadyRow[] = [];
    if (wanted === 1) {
      const row = statements.oldestReady.get(draw.id);
      if (row === null) return rows;
      if (row.barrier === null) return this.hasRoomFor(row) ? [row] : rows;
    }
    for (const row of statements.readyJobs.iterate(draw.id)) {
      if (row.barrier !== null && this.isBarred(row.barrier)) {
        draw.barred += 1;
        if (draw.barred >= maxBarred) break;
        continue;
      }
      if (!this.hasRoomFor(row)) break;
      rows.push(row);
      if (rows.length === wanted) break;
    }
    return rows;
  }

  /** At most 1 MiB, but always one. */
  private hasRoomFor({ payload }: ReadyRow): boolean {
    const size = byteLength(payload);
    if (this.bytes > 0 && this.bytes + size > maxBytes) {
      this.isFull = true;
      return false;
    }
    this.bytes += size;
    return true;
  }

  private reserve(row: ReadyRow, channel: string): void {
    const { statements, request, now, tokenBase } = this.parts;
    const slot = this.free[this.reserved.length] ?? 0;
    const raw = textOf(row.payload);
    if (request.isAtMostOnce) {
      statements.takeJob.run(row.seq);
      this.settledAtOnce += 1;
      this.reserved.push({ slot, token: "", channel, raw, earlierAttempts: 0 });
      return;
    }
    const { node, executor } = request.executor;
    const token = `${tokenBase}.${slot}`;
    statements.claimJob.run(row.seq);
    const attempt = failureCountOf(raw) + 1;
    statements.addClaim.run(node, executor, slot, token, row.seq, row.id, now, attempt, request.ahead ?? 0);
    this.reserved.push({ slot, token, channel, raw, earlierAttempts: 0 });
  }

  private isBarred(barrier: string): boolean {
    const { statements, now } = this.parts;
    const known = this.barriers.get(barrier) ?? statements.barrier.get(barrier, now) !== null;
    this.barriers.set(barrier, known);
    return known;
  }
}
