import type { Settings } from "../config/settings.ts";
import { SolidJobsError, StoreUnavailable } from "../foundation/errors.ts";
import { pause } from "../foundation/time.ts";
import type { Emitter } from "../instrumentation/emitter.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { CycleReply, Executor as ExecutorName, Reservation, Settlement, Store } from "../store/store.ts";
import { Bell } from "./bell.ts";
import type { Board } from "./board.ts";
import type { ChannelPicker } from "./channel-order.ts";
import { Claims, type PendingSettlement } from "./claims.ts";
import type { Executor } from "./executor.ts";
import { ReserveBudget } from "./reserve-budget.ts";
import { SlotsHint } from "./slots-hint.ts";
import type { StoreClock } from "./store-clock.ts";

export interface LoopDependencies {
  readonly settings: Settings;
  readonly store: Store;
  readonly name: ExecutorName;
  readonly worker: number;
  readonly board: Board;
  readonly executor: Executor;
  readonly picker: ChannelPicker;
  readonly emitter: Emitter;
  readonly logger: Logger;
  /** Set by each answer of the store. */
  readonly clock: StoreClock;
  /** The generation was taken away by somebody else. */
  readonly onRetired: () => void;
  /** Jobs wait while this one-slot worker mostly sits in awaits. */
  readonly onSlotsHint: () => void;
}

/** A worker compares its claims with the store's at least this often. */
const reconcileIntervalMs = 30_000;
/** An idle worker that nobody wakes looks for itself after this time. */
const safetyPollMs = 10_000;
/** A settlement that the store cannot carry out is tried again after this time. */
const blockedRetryMs = 1000;
/** Reserved jobs that have not begun after this time are given back, if another worker is idle. */
const giveBackAfterMs = 25;
const longestFailurePauseMs = 2000;

/**
 * The loop of one worker, on its own connection. In turns:
 *
 *     reconcile, when it is due     compare the stored claims with the known ones
 *     cycle                         settle what ended and reserve for the free slots, in one call
 *     begin                         the reserved jobs; those that end synchronously are settled next
 *     rest                          when there is nothing to settle and nothing to reserve: until a job
 *                                   ends, the board wakes this worker, or it is told to stop
 *
 * A failed cycle may have been executed: its settlements are sent again under the same tokens, after a
 * reconciliation under a new generation has put back what a lost reply had reserved.
 */
export class WorkerLoop {
  private readonly with: LoopDependencies;
  private readonly claims: Claims;
  private readonly bell = new Bell();
  private readonly budget = new ReserveBudget();
  private generation: string;
  private generationCount = 0;
  private isReserving = true;
  private isDraining = false;
  private mustReconcile = false;
  private reconciledAt = performance.now();
  private epoch: number;
  private failures = 0;
  private wakeSeen = -1;
  private wakeWait: Promise<void> | undefined;
  private cpuSeenUs = 0;
  private endedSinceCycle = 0;
  private fault: Error | undefined;
  private readonly brokenSince = new Map<string, number>();
  private readonly hint = new SlotsHint();

  constructor(dependencies: LoopDependencies) {
    this.with = dependencies;
    this.claims = new Claims(dependencies.settings.slots);
    this.generation = dependencies.name.generation;
    this.epoch = dependencies.store.epoch;
  }

  /** Resolves when it was told to drain and everything is settled. Rejects only with its own faults. */
  async run(): Promise<void> {
    while (!this.isOver) {
      this.with.board.tick(this.with.worker);
      await this.turn();
      if (this.fault !== undefined) throw this.fault;
    }
    this.with.board.endIdle(this.with.worker);
  }

  stopReserving(): void {
    this.isReserving = false;
    this.bell.ring();
  }

  drain(): void {
    this.isDraining = true;
    this.stopReserving();
  }

  private get isOver(): boolean {
    return this.isDraining && this.claims.heldCount === 0 && this.claims.pendingCount === 0;
  }

  private async turn(): Promise<void> {
    const { board, worker } = this.with;
    try {
      if (this.isReconcileDue()) await this.reconcile();
      this.wakeSeen = board.wakeCount(worker);
      const settling = this.claims.takePending(performance.now());
      const slots = this.slotsToFill(settling);
      if (settling.length === 0 && slots.length === 0) return await this.rest();
      const hasFound = await this.cycle(settling, slots);
      if (!hasFound && !this.claims.hasDue(performance.now())) await this.rest();
    } catch (error) {
      if (!(error instanceof SolidJobsError)) throw new LoopFault("the loop failed", { cause: error });
      await this.recoverFrom(error);
    }
  }

  private slotsToFill(settling: readonly PendingSettlement[]): number[] {
    if (!this.isReserving || this.with.board.isQuiet) return [];
    const free = this.claims.freeCount + settling.length;
    const limit = this.with.settings.slots === 1 ? free : this.budget.limit(free);
    return this.claims.slotsToFill(settling, limit);
  }

  // ------------------------------------------------------------------------------ the cycle

  /** @returns whether it got jobs */
  private async cycle(settling: readonly PendingSettlement[], slots: readonly number[]): Promise<boolean> {
    const { store, name, picker, settings, board } = this.with;
    let reply: CycleReply;
    try {
      reply = await store.cycle({
        executor: { ...name, generation: this.generation },
        settlements: settling.map(({ settlement }) => settlement),
        slots,
        channels: slots.length === 0 ? [] : picker.next(slots.length),
        isAtMostOnce: settings.delivery === "at-most-once",
      });
    } catch (error) {
      const isSent = !(error instanceof StoreUnavailable) || error.isSent;
      this.claims.putBack(settling, { isSent });
      this.mustReconcile ||= isSent;
      throw error;
    }
    this.noteSuccess();
    this.with.clock.observe(reply.nowMs);
    this.settle(settling, reply);
    this.observe(reply);
    board.countTurn(reply.reserved.length);
    if (slots.length > 0 && reply.reserved.length === slots.length) board.wakeOne();
    this.begin(reply.reserved);
    board.setFree(this.with.worker, this.claims.freeCount);
    return reply.reserved.length > 0;
  }

  private settle(settling: readonly PendingSettlement[], reply: CycleReply): void {
    const refused = new Set<Settlement>(reply.refused);
    const blocked = new Map(reply.blocked.map(({ settlement, reason }) => [settlement, reason]));
    for (const pending of settling) {
      const { settlement } = pending;
      const reason = blocked.get(settlement);
      if (reason !== undefined) {
        this.with.logger.error(`a job cannot be settled and is kept: ${reason}`, { job: settlement.jobId });
        this.claims.block(pending, performance.now() + blockedRetryMs);
        continue;
      }
      this.claims.settled(settlement);
      if (refused.has(settlement)) this.noteRefusal(pending);
      else if (this.with.emitter.isListening) this.acknowledge(pending);
    }
  }

  private noteRefusal({ settlement, isResent }: PendingSettlement): void {
    this.mustReconcile = true;
    if (isResent) return; // unknown or done
    this.with.logger.warn("a job ended whose claim had been taken back: it runs again elsewhere", {
      job: settlement.jobId,
    });
  }

  private acknowledge({ ended: { execution } }: PendingSettlement): void {
    if (execution === undefined) return;
    const { envelope: job, attempt } = execution;
    this.with.emitter.emit({ name: "job.acknowledged", job, attempt });
  }

  private observe(reply: CycleReply): void {
    const { logger } = this.with;
    if (!reply.isCurrent && this.isReserving) {
      this.isReserving = false;
      this.with.onRetired();
    }
    if (reply.hasStrays) this.mustReconcile = true;
    if (reply.archivedAsGarbage > 0) {
      logger.error(
        `${reply.archivedAsGarbage} entries of a channel were no envelopes and were archived as they are`,
      );
    }
    for (const { channel, reason } of reply.broken) this.noteBroken(channel, reason);
    if (this.with.settings.slots === 1) {
      const hasWork = reply.reserved.length > 0;
      if (this.hint.isDue({ hasWork, cpuUs: threadCpuUs, nowMs: performance.now() })) this.with.onSlotsHint();
      return;
    }
    const cpuUs = threadCpuUs();
    const cpuMs = (cpuUs - this.cpuSeenUs) / 1000;
    this.budget.observe({ reserved: reply.reserved.length, ended: this.endedSinceCycle, cpuMs });
    this.cpuSeenUs = cpuUs;
    this.endedSinceCycle = 0;
  }

  private noteBroken(channel: string, reason: string): void {
    const now = performance.now();
    if (now - (this.brokenSince.get(channel) ?? Number.NEGATIVE_INFINITY) < 60_000) return;
    this.brokenSince.set(channel, now);
    this.with.logger.error(`channel "${channel}" cannot be read: ${reason}; remove or rename that key`);
  }

  // ------------------------------------------------------------------------------ running

  private begin(reserved: readonly Reservation[]): void {
    const startedAt = performance.now();
    for (const reservation of reserved) {
      this.claims.hold(reservation);
      const isLate = reservation !== reserved[0] && performance.now() - startedAt > giveBackAfterMs;
      if (isLate && reservation.token !== "" && this.with.board.idleWorkers > 0) {
        this.claims.end(reservation.slot, { jobId: "", settlement: { outcome: "requeue" } });
        continue;
      }
      this.start(reservation);
    }
  }

  private start(reservation: Reservation): void {
    const ended = this.with.executor.run(reservation);
    if (!(ended instanceof Promise)) {
      this.endedSinceCycle += 1;
      this.claims.end(reservation.slot, ended);
      return;
    }
    ended.then(
      (result) => {
        this.endedSinceCycle += 1;
        this.claims.end(reservation.slot, result);
        this.bell.ring();
      },
      (error) => {
        this.fault = new LoopFault("settling a job failed", { cause: error });
        this.bell.ring();
      },
    );
  }

  // ------------------------------------------------------------------------------ resting

  private async rest(): Promise<void> {
    const { board, worker } = this.with;
    if (this.isOver) return;
    const canReserve = this.isReserving && !board.isQuiet && this.claims.freeCount > 0;
    if (canReserve) {
      if (board.wakeCount(worker) !== this.wakeSeen) return;
      if (this.claims.heldCount === 0) this.budget.startOver();
      this.listenForWake();
      board.beginIdle(worker);
    }
    await this.bell.rung(this.claims.pendingCount > 0 ? blockedRetryMs : safetyPollMs);
    if (canReserve) board.endIdle(worker);
  }

  /** One wait at a time: the former one serves on as long as nobody woke this worker. */
  private listenForWake(): void {
    const { board, worker } = this.with;
    if (this.wakeWait !== undefined) return;
    this.wakeWait = board.woken(worker, this.wakeSeen, safetyPollMs).then(() => {
      this.wakeWait = undefined;
      this.bell.ring();
    });
  }

  // ------------------------------------------------------------------------------ reconciling, failing

  private isReconcileDue(): boolean {
    if (this.with.settings.delivery === "at-most-once") return false;
    if (this.with.store.epoch !== this.epoch) return true;
    return this.mustReconcile || performance.now() - this.reconciledAt > reconcileIntervalMs;
  }

  private async reconcile(): Promise<void> {
    const { store, name, settings, logger } = this.with;
    const epoch = store.epoch;
    const next = `${name.generation}.${this.generationCount + 1}`;
    const present = { ...name, generation: this.generation };
    const reply = await store.reconcile(present, next, this.claims.known, settings.slots);
    this.reconciledAt = performance.now();
    this.mustReconcile = false;
    this.epoch = epoch === store.epoch ? epoch : this.epoch;
    if (!reply.isCurrent) {
      if (this.isReserving) {
        this.isReserving = false;
        this.with.onRetired();
      }
      return;
    }
    this.generation = next;
    this.generationCount += 1;
    if (reply.requeued > 0) logger.info(`put back ${reply.requeued} jobs that a lost reply had reserved`);
    if (reply.missing.length > 0) this.claims.forget(reply.missing);
  }

  private async recoverFrom(error: Error): Promise<void> {
    this.failures += 1;
    if (this.failures === 1)
      this.with.logger.warn(`the store does not answer, trying again: ${error.message}`);
    if (!(error instanceof StoreUnavailable)) this.with.logger.error("a cycle failed", { error });
    await pause(Math.min(25 * 2 ** this.failures, longestFailurePauseMs));
  }

  private noteSuccess(): void {
    if (this.failures === 0) return;
    this.with.logger.info("the store answers again", { failures: this.failures });
    this.failures = 0;
  }
}

/** The CPU that this thread has used. */
function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** A fault of the runtime itself: it ends the thread, which is replaced. */
export class LoopFault extends Error {}
