import type { Logger } from "../instrumentation/logger.ts";
import type { Board } from "./board.ts";
import type { Executor } from "./executor.ts";
import { IdleCollector } from "./idle-collector.ts";
import type { RunningReport } from "./running-report.ts";

const tickMs = 1000;
/** Of an idle worker with one slot, which the conductor tells when there is work again. */
const idleTickMs = 10_000;
const heldMs = 1000;

export interface LoopWatchParts {
  readonly board: Board;
  readonly worker: number;
  readonly slots: number;
  readonly executor: Executor;
  readonly report: RunningReport;
  readonly logger: Logger;
}

/**
 * The one timer of a worker: turns the board's counter while the event loop turns, says which jobs held it for
 * long, shows what runs, and collects when the node ran out of work. Every second, in an idle worker every ten,
 * since threads that wake for nothing are what an idle node costs.
 */
export class LoopWatch {
  private readonly with: LoopWatchParts;
  private readonly collector: IdleCollector;
  private timer: ReturnType<typeof setTimeout> | undefined;
  private expectedAt = 0;
  private isIdle = false;

  constructor(parts: LoopWatchParts) {
    this.with = parts;
    this.collector = new IdleCollector(parts.board);
    this.wait(tickMs);
  }

  stop(): void {
    clearTimeout(this.timer);
  }

  /** The node has work again: something may have to be watched, and to be collected afterwards. */
  stir(): void {
    if (!this.isIdle) return;
    clearTimeout(this.timer);
    this.wait(tickMs);
  }

  private wait(ms: number): void {
    this.isIdle = ms === idleTickMs;
    this.expectedAt = performance.now() + ms;
    this.timer = setTimeout(() => this.tick(), ms);
  }

  private tick(): void {
    const { board, worker, slots, executor, report } = this.with;
    const lateMs = performance.now() - this.expectedAt;
    board.tick(worker);
    if (slots > 1 && lateMs >= heldMs) this.tellHolders(lateMs);
    report.look();
    const hasWorked = this.collector.tick();
    this.wait(slots > 1 || hasWorked || executor.running.size > 0 ? tickMs : idleTickMs);
  }

  private tellHolders(lateMs: number): void {
    const jobs = [...this.with.executor.running.values()].map(({ envelope }) => envelope.id);
    if (jobs.length === 0) return;
    this.with.logger.warn(
      `the loop was held for ${Math.round(lateMs)} ms; one of these jobs does it after an await`,
      { jobs },
    );
  }
}
