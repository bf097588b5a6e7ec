import type { Settings } from "../config/settings.ts";
import { SolidJobsError, StoreUnavailable } from "../foundation/errors.ts";
import { pause } from "../foundation/time.ts";
import type { Emitter } from "../instrumentation/emitter.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { CycleReply, Executor as ExecutorName, Reservation, Settlement, Store } from "../store/store.ts";
import { Bell } from "./bell.ts";
import { type Board, placesOf } from "./board.ts";
import type { ChannelPicker } from "./channel-order.ts";
import { callBase } from "./claim-board.ts";
import { Claims, type PendingSettlement } from "./claims.ts";
import type { Ended, Executor } from "./executor.ts";
import { LastChance } from "./last-chance.ts";
import { LookAhead, lookAheadMs } from "./look-ahead.ts";
import { ReserveBudget } from "./reserve-budget.ts";
import { SlotsHint } from "./slots-hint.ts";
import type { StoreClock } from "./store-clock.ts";

export interface LoopDependencies {
  readonly settings: Settings;
  readonly store: Store;
  readonly name: ExecutorName;
  readonly worker: number;
  /** What the tokens of this worker's claims begin with. */
  readonly tokenBase: string;
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
  /** See `LastChance`. */
  readonly firstWaitMs?: number;
}

/** A worker compares its claims with the store's at least this often. */
const reconcileIntervalMs = 30_000;
/** An idle worker that nobody wakes looks for itself after this time. */
const safetyPollMs = 10_000;
/** A settlement that the store cannot carry out is tried again after this time. */
const blockedRetryMs = 1000;
/** A worker that holds its node looks this often whether the others stand still. */
const holdPollMs = 5;
/** Jobs that wait for their turn are begun one after the other for this long, before the store is asked again. */
const longestStretchMs = 2 * lookAheadMs;
const longestFailurePauseMs = 2000;

/**
 * The loop of one worker, on its own connection. In turns:
 *
 *     reconcile, when it is due     compare the stored claims with the known ones
 *     cycle                         send what ended and what is wanted, in one call; while the answer is
 *                                   under way, jobs that were reserved ahead begin, one for each free slot
 *     begin                         those that the answer brought, with the next cycle under way where there
 *                                   is one to send; what ends synchronously is settled next
 *     stand aside                   instead of all that while a suspect wants the node for itself: give back what
 *                                   has not begun, settle what ended, reserve nothing
 *     rest                          when there is nothing to settle and nothing to reserve: until a job
 *                                   ends, the board wakes this worker, or it is told to stop
 *
 * A failed cycle may have been executed: its settlements are sent again under the same tokens, after a
 * reconciliation under a new generation has put back what a lost reply had reserved.
 *
 * Claims that wait for their turn stand on the board, from the moment they are asked for: the conductor
 * gives them back when this worker does not come to begin them.
 */
export class WorkerLoop {
  private readonly with: LoopDependencies;
  private readonly claims: Claims;
  private readonly bell = new Bell();
  private readonly budget = new ReserveBudget();
  private readonly lookAhead: LookAhead;
  /** Counts the cycles: part of their claims' tokens. */
  private call = 0;
  /** The last call that told the store of work in hand. */
  private lastAhead = 0;
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
  private readonly lastChance: LastChance;

  constructor(dependencies: LoopDependencies) {
    this.with = dependencies;
    const { settings } = dependencies;
    this.claims = new Claims(placesOf(settings));
    this.lookAhead = new LookAhead({ most: placesOf(settings) - settings.slots, slots: settings.slots });
    this.lastChance = new LastChance(dependencies);
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
    this.lastChance.leave();
  }

  stopReserving(): void {
    this.isReserving = false;
    this.giveBackQueued();
    this.giveBackSuspect();
    this.bell.ring();
  }

  /** What waits for its turn goes back; at most once it is settled, and can only run. */
  private giveBackQueued(): void {
    if (this.isAtMostOnce) return;
    for (let next = this.claims.next(); next !== undefined; next = this.claims.next()) {
      const { slot } = next.reservation;
      const { board, worker } = this.with;
      if (!board.claims.begin(worker, slot, next.call)) board.claims.free(worker, slot); // it was taken: the same
      this.claims.end(slot, givenBack);
    }
  }

  drain(): void {
    this.isDraining = true;
    this.stopReserving();
  }

  private get isOver(): boolean {
    return this.isDraining && this.claims.isEmpty;
  }

  private async turn(): Promise<void> {
    const { board, worker } = this.with;
    try {
      if (this.isReconcileDue()) await this.reconcile();
      this.wakeSeen = board.wakeCount(worker);
      if (!this.lastChance.mayWork) return await this.standAside();
      const settling = this.claims.takePending(performance.now());
      const places = this.placesToFill(settling);
      if (settling.length === 0 && places.length === 0 && !this.mustTellBegun) {
        if (!this.beginQueued()) return await this.rest();
        return this.claims.queuedCount > 0 ? await eventLoopTurn() : undefined;
      }
      const hasFound = await this.cycle(settling, places);
      if (!hasFound && !this.hasWork) await this.rest();
    } catch (error) {
      if (!(error instanceof SolidJobsError)) throw new LoopFault("the loop failed", { cause: error });
      await this.recoverFrom(error);
    }
  }

  /** Something is to be settled, or waits for its turn while a slot is free. */
  private get hasWork(): boolean {
    const canBegin = this.claims.queuedCount > 0 && this.freeSlots > 0;
    return canBegin || this.claims.hasDue(performance.now());
  }

  /**
   * Fills the free slots, and the places ahead. Half of all at a time: the other half is what runs while the
   * answer is under way.
   */
  private placesToFill(settling: readonly PendingSettlement[]): number[] {
    if (!this.isReserving || this.with.board.isQuiet) return [];
    const { slots } = this.with.settings;
    const { runningCount, queuedCount } = this.claims;
    const free = slots - runningCount;
    const used = slots === 1 ? slots : runningCount + this.budget.limit(free);
    const ahead = this.lookAhead.places(slots === 1 ? undefined : this.budget.jobsWithin(lookAheadMs));
    const room = used + ahead - runningCount - queuedCount;
    const wanted = Math.max(used - runningCount - queuedCount, Math.ceil((used + ahead) / 2));
    return this.claims.placesToFill(settling, Math.min(room, wanted));
  }

  // ------------------------------------------------------------------------------ the cycle

  /** @returns whether it got jobs */
  private async cycle(settling: readonly PendingSettlement[], places: readonly number[]): Promise<boolean> {
    const { board, worker } = this.with;
    this.call += 1;
    const { call } = this;
    this.announce(places);
    let reply: CycleReply;
    try {
      const answer = this.send(settling, places);
      this.beginQueued();
      reply = await answer;
    } catch (error) {
      const isSent = !(error instanceof StoreUnavailable) || error.isSent;
      for (const place of places) board.claims.free(worker, place);
      this.claims.putBack(settling, { isSent });
      this.mustReconcile ||= isSent;
      throw error;
    }
    this.noteSuccess();
    this.with.clock.observe(reply.nowMs);
    this.settle(settling, reply);
    const isFull = places.length > 0 && reply.reserved.length === places.length;
    this.observe(reply, isFull);
    board.countTurn(reply.reserved.length);
    if (isFull) {
      board.wakeOne();
      this.lookAhead.grow();
    }
    this.hold(reply.reserved, { places, call });
    if (!this.isReserving) this.giveBackQueued();
    board.setFree(worker, this.freeSlots);
    return reply.reserved.length > 0;
  }

  private send(settling: readonly PendingSettlement[], places: readonly number[]): Promise<CycleReply> {
    const { store, name, picker, settings, tokenBase } = this.with;
    const isAhead = this.claims.queuedCount > 0 || (places.length > 0 && this.claims.runningCount > 0);
    if (isAhead) this.lastAhead = this.call;
    return store.cycle({
      executor: { ...name, generation: this.generation },
      settlements: settling.map(({ settlement }) => settlement),
      slots: places,
      channels: places.length === 0 ? [] : picker.next(places.length),
      isAtMostOnce: settings.delivery === "at-most-once",
      tokenBase: callBase(tokenBase, this.call),
      ...(isAhead ? { ahead: this.call } : {}),
    });
  }

  /** The store takes the claims of the last such call for not begun: it must hear of it before they begin. */
  private get mustTellBegun(): boolean {
    return this.lastAhead > 0 && this.claims.nextCall === this.lastAhead && this.freeSlots > 0;
  }

  /** The conductor sees what is asked for before the store does. */
  private announce(places: readonly number[]): void {
    if (places.length === 0 || this.isAtMostOnce) return;
    const { board, worker } = this.with;
    board.claims.ask(worker, places, this.call);
    if (places.length > 1 || this.claims.queuedCount > 0) board.claims.watch(worker, true);
  }

  private hold(
    reserved: readonly Reservation[],
    { places, call }: { places: readonly number[]; call: number },
  ): void {
    const { board, worker } = this.with;
    this.claims.add(reserved, call);
    if (this.isAtMostOnce) return;
    for (const reservation of reserved) {
      board.claims.queue(worker, reservation.slot, call);
      if (reservation.suspicion?.isPoison === false) this.setAside(reservation, call);
    }
    if (reserved.length === places.length) return;
    const filled = new Set(reserved.map(({ slot }) => slot));
    for (const place of places) if (!filled.has(place)) board.claims.free(worker, place);
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

  private noteRefusal({ settlement, ended, isResent }: PendingSettlement): void {
    if (ended === givenBack) return; // the conductor was faster
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

  private observe(reply: CycleReply, isFull: boolean): void {
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
    this.budget.observe({ isFull, ended: this.endedSinceCycle, cpuMs });
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

  /**
   * Begins what waits for its turn, one for each free slot; those that end synchronously follow one another.
   *
   * @returns whether any has begun
   */
  private beginQueued(): boolean {
    if (this.claims.queuedCount === 0 || this.freeSlots <= 0 || !this.lastChance.mayWork) return false;
    const { board, worker, settings } = this.with;
    const startedAt = performance.now();
    while (this.claims.runningCount < settings.slots) {
      if (this.claims.nextCall === this.lastAhead) break; // the store must hear of it first
      const next = this.claims.next();
      if (next === undefined) break;
      const { reservation, call } = next;
      if (this.isAtMostOnce || board.claims.begin(worker, reservation.slot, call)) this.start(reservation);
      else {
        board.claims.free(worker, reservation.slot);
        this.claims.end(reservation.slot, givenBack);
      }
      if (performance.now() - startedAt > longestStretchMs) break;
    }
    return true;
  }

  private start(reservation: Reservation): void {
    const { board, worker, executor } = this.with;
    board.setFree(worker, this.freeSlots); // a job that holds the loop for long must not look like a loop that stalls
    const begunAt = performance.now();
    const ended = executor.run(reservation);
    if (!(ended instanceof Promise)) {
      this.lookAhead.observe(performance.now() - begunAt);
      return this.finish(reservation, ended);
    }
    ended.then(
      (result) => {
        this.lookAhead.observe(performance.now() - begunAt);
        this.finish(reservation, result);
        this.beginQueued();
        this.bell.ring();
      },
      (error) => {
        this.fault = new LoopFault("settling a job failed", { cause: error });
        this.bell.ring();
      },
    );
  }

  private finish(reservation: Reservation, ended: Ended): void {
    this.endedSinceCycle += 1;
    this.claims.end(reservation.slot, ended);
    this.lastChance.ended(reservation);
  }

  private get isAtMostOnce(): boolean {
    return this.with.settings.delivery === "at-most-once";
  }

  /** Slots for which nothing is reserved. */
  private get freeSlots(): number {
    return this.with.settings.slots - this.claims.runningCount;
  }

  // ------------------------------------------------------------------------------ last chances

  /** A suspect does not stand in the row: it begins when it is alone, or goes back when another one is before it. */
  private setAside(suspect: Reservation, call: number): void {
    const { board, worker } = this.with;
    this.claims.setAside(suspect.slot);
    const isOurs = board.claims.begin(worker, suspect.slot, call);
    if (!isOurs) board.claims.free(worker, suspect.slot);
    if (!isOurs || !this.isReserving || !this.lastChance.take(suspect))
      this.claims.end(suspect.slot, givenBack);
  }

  /** One turn while the node is held, by this worker or by another one. */
  private async standAside(): Promise<void> {
    this.giveBackQueued();
    const settling = this.claims.takePending(performance.now());
    if (settling.length > 0) {
      await this.cycle(settling, []);
      this.lastChance.settled();
    }
    if (this.claims.isEmpty) this.lastChance.standStill();
    const suspect = this.lastChance.waiting;
    if (suspect !== undefined) await this.offerLastChance(suspect);
    if (!this.claims.hasDue(performance.now())) await this.restAside();
  }

  private async offerLastChance(suspect: Reservation): Promise<void> {
    const { store, name } = this.with;
    const isAlone = this.claims.isNearlyEmpty && this.lastChance.areOthersStill;
    const delaySeconds = this.lastChance.postponedSeconds;
    if (isAlone) {
      const mayBegin = await store.beginAlone({ ...name, generation: this.generation }, suspect);
      if (this.lastChance.waiting !== suspect) return; // given back meanwhile
      if (!mayBegin) return this.giveBackSuspect();
      this.lastChance.begin();
      this.start(suspect);
    } else if (delaySeconds !== undefined) {
      this.with.logger.warn("a suspect was put off: other jobs of its node ran for too long", {
        delaySeconds,
      });
      this.endSuspect(suspect, { jobId: "", settlement: { outcome: "postpone", delaySeconds } });
    }
  }

  private giveBackSuspect(): void {
    const suspect = this.lastChance.waiting;
    if (suspect !== undefined) this.endSuspect(suspect, givenBack);
  }

  private endSuspect({ slot }: Reservation, ended: Ended): void {
    this.claims.end(slot, ended);
    this.lastChance.end();
  }

  /** Until the node is free, a job ends, or the suspect may begin. */
  private async restAside(): Promise<void> {
    const { board, worker } = this.with;
    board.claims.watch(worker, false);
    if (this.isOver || this.lastChance.mayWork || board.wakeCount(worker) !== this.wakeSeen) return;
    this.listenForWake();
    const isWaiting = this.lastChance.waiting !== undefined;
    const longestMs = this.claims.pendingCount > 0 ? blockedRetryMs : safetyPollMs;
    await this.bell.rung(isWaiting ? holdPollMs : longestMs);
  }

  // ------------------------------------------------------------------------------ resting

  private async rest(): Promise<void> {
    const { board, worker } = this.with;
    if (this.isOver) return;
    if (this.claims.queuedCount === 0) board.claims.watch(worker, false);
    const canReserve = this.isReserving && !board.isQuiet && this.freeSlots > 0;
    if (canReserve) {
      if (board.wakeCount(worker) !== this.wakeSeen) return;
      if (this.claims.isEmpty) this.startOver();
      this.listenForWake();
      board.beginIdle(worker);
    }
    await this.bell.rung(this.claims.pendingCount > 0 ? blockedRetryMs : safetyPollMs);
    if (canReserve) board.endIdle(worker);
  }

  private startOver(): void {
    this.budget.startOver();
    this.lookAhead.startOver();
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
    const reply = await store.reconcile(present, next, this.claims.known, placesOf(settings));
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
    if (reply.missing.length === 0) return;
    for (const place of this.claims.forget(reply.missing))
      this.with.board.claims.free(this.with.worker, place);
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

/** Lets timers, answers and messages through. */
function eventLoopTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** How a claim ends that was reserved ahead and is not begun: back to its channel, uncounted. */
const givenBack: Ended = { jobId: "", settlement: { outcome: "requeue" } };

/** The CPU that this thread has used. */
function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** A fault of the runtime itself: it ends the thread, which is replaced. */
export class LoopFault extends Error {}
