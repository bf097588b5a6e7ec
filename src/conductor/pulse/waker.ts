import { pause } from "../../foundation/time.ts";
import type { Logger } from "../../instrumentation/logger.ts";
import type { ChannelWaiter, Store } from "../../store/store.ts";
import type { Board } from "../../worker/board.ts";
import { Duty } from "./duty.ts";

/** One wait for a channel; the next begins at once when workers are still idle. */
const waitMs = 5000;
/** How long a woken worker's cycle may take before the channel is looked at again. */
const turnMs = 20;
/** A paused channel, or one whose jobs may not be taken, is looked at again after at most this time. */
const longestHoldMs = 250;

/**
 * Wakes idle workers when a channel has something, one channel each. It waits in the store only while a
 * worker is idle, and never in a hot loop: a wake after which nobody got a job (the jobs are barred, or
 * others were faster) is followed by a growing pause.
 *
 *     wait for an idle worker -> wait for the channel -> wake one -> its cycle ended -> again
 */
export class ChannelWaker {
  private readonly board: Board;
  private readonly waiter: ChannelWaiter;
  private readonly duty: Duty;
  private holdMs = 0;
  private isStopped = false;

  constructor({
    store,
    channel,
    board,
    logger,
  }: { store: Store; channel: string; board: Board; logger: Logger }) {
    this.board = board;
    this.waiter = store.waiter(channel);
    this.duty = new Duty(`waiting for channel "${channel}"`, logger, (signal) => this.round(signal));
  }

  async stop(): Promise<void> {
    this.isStopped = true;
    this.waiter.close();
    this.board.stirIdle();
    await this.duty.stop();
  }

  private async round(signal: AbortSignal): Promise<number> {
    const { board } = this;
    if (board.isQuiet) return longestHoldMs;
    if (board.idleWorkers === 0) {
      await board.someIdle(waitMs);
      return 0;
    }
    const state = await this.waiter.wait(waitMs);
    if (this.isStopped || state === "closed") return 0;
    if (state === "paused") return longestHoldMs;
    if (state === "quiet") return 0;
    return this.wake(signal);
  }

  private async wake(signal: AbortSignal): Promise<number> {
    const { board } = this;
    const turns = board.turnCount;
    const reserved = board.reservedCount;
    if (!board.wakeOne()) return 0;
    await board.turned(turns, turnMs);
    this.holdMs =
      board.reservedCount !== reserved ? 0 : Math.min(Math.max(1, this.holdMs * 2), longestHoldMs);
    if (this.holdMs > 0) await pause(this.holdMs, signal);
    return 0;
  }
}
