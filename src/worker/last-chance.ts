import type { Logger } from "../instrumentation/logger.ts";
import type { Reservation } from "../store/store.ts";
import type { Board } from "./board.ts";

/** How long a suspect waits at first until nothing else runs on its node; twice as long each further time. */
const firstWaitMs = 15_000;
const longestWaitMs = 240_000;
/** Then it is put off for so many times as long: at most a fifth of a node's time is lost to waiting in vain. */
const postponedTimes = 4;

/**
 * A worker's part in the last chances of suspects. A suspect runs only while it is alone on its node, so that its
 * death tells that it is the cause, and takes nothing else along:
 *
 *     none -> waiting      a suspect was reserved and nobody holds the node: this worker does now. All others, and
 *                          it itself, give back what they have not begun, finish what runs and stand still
 *     waiting -> running   nothing else runs or is to be settled any more
 *     waiting -> none      the others took too long (it is put off), or this worker stops
 *     running -> ended -> none    its end is settled: no later death of the node is taken for its own
 *
 * When it is none again the node is free, and all workers are woken.
 */
export class LastChance {
  private readonly board: Board;
  private readonly worker: number;
  private readonly logger: Logger;
  private readonly firstWaitMs: number;
  private suspect: Reservation | undefined;
  private state: "waiting" | "running" | "ended" = "waiting";
  private waitingSince = 0;
  /** Until its first turn nobody waits for this worker. */
  private isStill = true;

  /** @param firstWaitMs how long a suspect waits that has not yet waited in vain. Default 15,000 */
  constructor(parts: { board: Board; worker: number; logger: Logger; firstWaitMs?: number }) {
    this.board = parts.board;
    this.worker = parts.worker;
    this.logger = parts.logger;
    this.firstWaitMs = parts.firstWaitMs ?? firstWaitMs;
  }

  /** Whether this worker may reserve and begin jobs: its node is not held. */
  get mayWork(): boolean {
    if (!this.isStill) return !this.board.hold.isHeld;
    if (this.board.hold.isHeld) return false;
    this.board.hold.setStill(this.worker, false);
    this.isStill = false;
    return !this.board.hold.isHeld;
  }

  /** This worker holds nothing, and begins nothing until the node is free. */
  standStill(): void {
    if (this.isStill || this.suspect !== undefined) return;
    this.isStill = true;
    this.board.hold.setStill(this.worker, true);
  }

  /** Its loop has ended: nobody waits for it. */
  leave(): void {
    this.end();
    this.board.hold.setStill(this.worker, true);
  }

  /** Holds the node for this suspect. False when another one is before it. */
  take(suspect: Reservation): boolean {
    if (this.suspect !== undefined || !this.board.hold.take(this.worker)) return false;
    this.suspect = suspect;
    this.state = "waiting";
    this.waitingSince = performance.now();
    this.logger.warn("a suspect waits until nothing else runs on this node", {
      crashes: suspect.suspicion?.crashes,
      worker: this.worker,
    });
    this.board.wakeAll(this.worker);
    return true;
  }

  /** The suspect that has not begun. */
  get waiting(): Reservation | undefined {
    return this.state === "waiting" ? this.suspect : undefined;
  }

  get areOthersStill(): boolean {
    return this.board.hold.areOthersStill(this.worker);
  }

  /** How long a suspect that has waited too long is put off; undefined while it may wait on. */
  get postponedSeconds(): number | undefined {
    const waits = this.suspect?.suspicion?.waits ?? 0;
    const longest = Math.min(this.firstWaitMs * 2 ** waits, longestWaitMs);
    if (performance.now() - this.waitingSince < longest) return undefined;
    return (longest * postponedTimes) / 1000;
  }

  begin(): void {
    this.state = "running";
  }

  /** This job has ended; it matters only if it is the suspect. */
  ended(reservation: Reservation): void {
    if (this.suspect === reservation) this.state = "ended";
  }

  /** All that had ended is settled, or the store has told why it cannot be. */
  settled(): void {
    if (this.state === "ended") this.end();
  }

  /** Frees the node, if this worker holds it. */
  end(): void {
    this.suspect = undefined;
    this.state = "waiting";
    if (this.board.hold.release(this.worker)) this.board.wakeAll(this.worker);
  }
}
