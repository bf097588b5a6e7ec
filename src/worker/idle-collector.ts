import type { Board } from "./board.ts";

/**
 * Lets this thread's garbage be collected, in the background, when the node has run out of work: a thread that
 * idles would keep what the last jobs left behind. Measured with 8 workers after a load: 11 MiB less.
 */
export class IdleCollector {
  private readonly board: Pick<Board, "reservedCount">;
  private readonly collect: () => void;
  private seen: number;
  private isDue = false;

  constructor(board: Pick<Board, "reservedCount">, collect: () => void = () => Bun.gc(false)) {
    this.board = board;
    this.collect = collect;
    this.seen = board.reservedCount;
  }

  /** Called at intervals: collects once after each stretch of work, when a whole interval brought no job. */
  tick(): void {
    const reserved = this.board.reservedCount;
    if (reserved === this.seen && this.isDue) this.collect();
    this.isDue = reserved !== this.seen;
    this.seen = reserved;
  }
}
