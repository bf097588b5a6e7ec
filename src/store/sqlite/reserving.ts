import type { ChannelShare, CycleRequest, Reservation, Suspicion } from "../store.ts";
import { inBodies } from "./bodies.ts";
import { claimKey, type Engine } from "./engine.ts";
import { byteLength, failureCountOf, textOf } from "./head.ts";
import { standing } from "./schema.ts";
import type { ClaimRow, ReadyRow, Statements } from "./statements.ts";

/** Limits of one call (protocol, section 1). */
const maxBytes = 1024 * 1024;
const maxBarred = 128;

export interface ReservingParts {
  readonly engine: Engine;
  readonly statements: Statements;
  readonly request: CycleRequest;
  readonly executorKey: number | undefined;
  /** What is stored for the slots in question and was not settled. */
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

interface ReadyJob {
  readonly row: ReadyRow;
  readonly raw: string;
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
  private hasSuspects = false;

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
    this.hasSuspects = paused.has(0);
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
    const jobs = this.chosen(draw, wanted);
    for (const job of jobs) this.reserve(job, draw);
    this.takeAway(jobs, draw);
    draw.taken += jobs.length;
    if (jobs.length < wanted) draw.isOver = true;
  }

  /** All rows are read before the first one is changed. */
  private chosen(draw: ChannelDraw, wanted: number): ReadyJob[] {
    const { statements } = this.parts;
    const jobs: ReadyJob[] = [];
    if (wanted === 1) {
      const row = statements.oldestReady.get(draw.id);
      if (row === null) return jobs;
      if (row.barrier === null) return this.add(row, jobs) ? jobs : [];
    }
    for (const row of statements.readyJobs.iterate(draw.id)) {
      if (row.barrier !== null && this.isBarred(row.barrier)) {
        draw.barred += 1;
        if (draw.barred >= maxBarred) break;
        continue;
      }
      if (!this.add(row, jobs) || jobs.length === wanted) break;
    }
    return jobs;
  }

  /** At most 1 MiB, but always one. */
  private add(row: ReadyRow, jobs: ReadyJob[]): boolean {
    const { engine, statements } = this.parts;
    const payload = engine.shapes.putTogether(statements, row);
    const size = byteLength(payload);
    if (this.bytes > 0 && this.bytes + size > maxBytes) {
      this.isFull = true;
      return false;
    }
    this.bytes += size;
    jobs.push({ row, raw: textOf(payload) });
    return true;
  }

  private reserve({ row, raw }: ReadyJob, { id, share: { channel } }: ChannelDraw): void {
    const { statements, request, executorKey = 0, now, tokenBase } = this.parts;
    const slot = this.free[this.reserved.length] ?? 0;
    if (request.isAtMostOnce) {
      if (typeof row.payload === "number") statements.deleteBody.run(row.payload);
      this.settledAtOnce += 1;
      this.reserved.push({ slot, token: "", channel, raw, earlierAttempts: 0 });
      return;
    }
    const token = `${tokenBase}.${slot}`;
    const attempt = hasNotFailed(row) ? 1 : failureCountOf(raw) + 1;
    const { ahead = null } = request;
    statements.addClaim.run(claimKey(executorKey, slot), token, now, attempt, ahead, id, row.place);
    const reservation = { slot, token, channel, raw, earlierAttempts: 0 };
    const suspicion = this.hasSuspects ? this.suspicionOf(row.id, slot) : undefined;
    this.reserved.push(suspicion === undefined ? reservation : { ...reservation, suspicion });
  }

  private suspicionOf(id: string, slot: number): Suspicion | undefined {
    const { statements, executorKey = 0 } = this.parts;
    const found = statements.suspicion.get(id);
    if (found === null) return undefined;
    const isPoison = found.alone === 1;
    statements.setStanding.run(isPoison ? standing.poison : standing.waiting, claimKey(executorKey, slot));
    return { crashes: found.crashes, isPoison, waits: found.waits };
  }

  /** Rows that stand side by side, which is nearly always all of them, in one call. */
  private takeAway(jobs: readonly ReadyJob[], { id }: ChannelDraw): void {
    const { statements } = this.parts;
    let first: number | undefined;
    for (const [i, { row }] of jobs.entries()) {
      first ??= row.place;
      if (jobs[i + 1]?.row.place === row.place + 1) continue;
      statements.takeReady.run(id, first, row.place);
      first = undefined;
    }
  }

  private isBarred(barrier: string): boolean {
    const { statements, now } = this.parts;
    const known = this.barriers.get(barrier) ?? statements.barrier.get(barrier, now) !== null;
    this.barriers.set(barrier, known);
    return known;
  }
}

/** What was published alone has a shape. */
function hasNotFailed({ shape }: ReadyRow): boolean {
  return shape !== null && shape !== inBodies;
}
