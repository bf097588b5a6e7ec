import { ThreadDied } from "../foundation/errors.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Board, SlotJob } from "../worker/board.ts";
import { pastTimeout, type WorkerSeat } from "./worker-seat.ts";

const intervalMs = 250;
/** While nothing runs. */
const idleIntervalMs = 1000;
/** A worker with free slots whose loop stands still this long is replaced (protocol, section 7). */
const stallMs = 30_000;

/**
 * Watches the board, where a worker that spins or is silent still shows what it does: ends threads whose
 * jobs ran past their timeouts, replaces workers whose loop stands still although they have free slots, and stirs
 * idle workers when there is work again.
 */
export class Overseer {
  private readonly board: Board;
  private readonly seats: readonly WorkerSeat[];
  private readonly logger: Logger;
  private timer: ReturnType<typeof setTimeout>;
  private intervalMs = idleIntervalMs;
  private reserved = 0;
  private stirredAt = Number.NEGATIVE_INFINITY;
  private readonly seen: { loop: number; at: number }[];
  /** When each slot's job was first seen. */
  private readonly begun = new Map<string, { job: SlotJob; at: number }>();

  constructor({ board, seats, logger }: { board: Board; seats: readonly WorkerSeat[]; logger: Logger }) {
    this.board = board;
    this.seats = seats;
    this.logger = logger;
    this.seen = seats.map(() => ({ loop: -1, at: performance.now() }));
    this.timer = setTimeout(() => this.look(), this.intervalMs);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  private look(): void {
    for (const [worker, seat] of this.seats.entries()) {
      this.endOverdue(worker, seat);
      this.endStalled(worker, seat);
    }
    this.stirWorkers();
    this.intervalMs = this.board.busy > 0 ? intervalMs : idleIntervalMs;
    this.timer = setTimeout(() => this.look(), this.intervalMs);
  }

  /** Idle workers sleep long. One that is told late watches its loop late, which loses no job. */
  private stirWorkers(): void {
    const { reservedCount } = this.board;
    const now = performance.now();
    if (reservedCount === this.reserved || now - this.stirredAt < idleIntervalMs) return;
    this.reserved = reservedCount;
    this.stirredAt = now;
    for (const seat of this.seats) seat.send({ type: "stir" });
  }

  private endOverdue(worker: number, seat: WorkerSeat): void {
    const overdue = this.board.jobs(worker).filter((job) => this.isOverdue(worker, job));
    if (overdue.length === 0 || !seat.end(pastTimeout(overdue))) return;
    this.logger.error("jobs ran past their timeouts: their thread is ended", {
      worker,
      jobs: overdue.map(({ id }) => id),
    });
  }

  /**
   * Measured from when it was first seen by a clock that nobody sets, and before that from its start as far as
   * there was no look at it: a jump of the time must end no job.
   */
  private isOverdue(worker: number, job: SlotJob): boolean {
    if (job.deadlineMs === 0) return false;
    const place = `${worker}.${job.slot}`;
    const known = this.begun.get(place);
    if (known?.job.id !== job.id || known.job.startedAtMs !== job.startedAtMs) {
      const ageMs = Math.min(Math.max(0, Date.now() - job.startedAtMs), this.intervalMs);
      this.begun.set(place, { job, at: performance.now() - ageMs });
      return false;
    }
    return performance.now() - known.at > job.deadlineMs - job.startedAtMs;
  }

  private endStalled(worker: number, seat: WorkerSeat): void {
    const seen = this.seen[worker];
    if (seen === undefined) return;
    const loop = this.board.loopCount(worker);
    const now = performance.now();
    if (loop !== seen.loop || loop === 0 || this.board.freeSlots(worker) === 0) {
      seen.loop = loop;
      seen.at = now;
      return;
    }
    if (now - seen.at < stallMs) return;
    seen.at = now;
    const holding = this.board.holdingSlot(worker);
    const jobs = this.board.jobs(worker);
    const error = new ThreadDied(
      `held the loop of its worker for ${stallMs / 1000} s while other slots were free: its thread was ended`,
    );
    if (!seat.end({ error, culprits: jobs.filter(({ slot }) => slot === holding) })) return;
    this.logger.error("a worker with free slots stands still: it is replaced", { worker, jobs });
  }
}
