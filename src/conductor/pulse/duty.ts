import { StoreUnavailable, toError } from "../../foundation/errors.ts";
import { pause } from "../../foundation/time.ts";
import type { Logger } from "../../instrumentation/logger.ts";

const longestFailurePauseMs = 2000;
/** Pauses of this length and longer end together with those of other duties. */
const gridMs = 200;

/**
 * One background duty: a round, a pause, a round, until stopped. A round that fails is logged once for each
 * row of failures and tried again after a growing pause.
 */
export class Duty {
  readonly finished: Promise<void>;
  private readonly stopping = new AbortController();
  private readonly name: string;
  private readonly logger: Logger;
  private failures = 0;

  /** @param round resolves to the milliseconds until the next one */
  constructor(name: string, logger: Logger, round: (signal: AbortSignal) => Promise<number>) {
    this.name = name;
    this.logger = logger;
    this.finished = this.repeat(round);
  }

  stop(): Promise<void> {
    this.stopping.abort();
    return this.finished;
  }

  private async repeat(round: (signal: AbortSignal) => Promise<number>): Promise<void> {
    const { signal } = this.stopping;
    while (!signal.aborted) {
      let pauseMs: number;
      try {
        pauseMs = await round(signal);
        this.noteSuccess();
      } catch (thrown) {
        if (signal.aborted) return;
        pauseMs = this.noteFailure(toError(thrown));
      }
      await pause(onGrid(pauseMs, performance.now()), signal);
    }
  }

  private noteSuccess(): void {
    if (this.failures > 0) this.logger.info(`${this.name}: works again`, { failures: this.failures });
    this.failures = 0;
  }

  private noteFailure(error: Error): number {
    this.failures += 1;
    if (this.failures === 1) {
      const isPassing = error instanceof StoreUnavailable;
      this.logger[isPassing ? "warn" : "error"](`${this.name} failed, trying again: ${error.message}`);
    }
    return Math.min(50 * 2 ** (this.failures - 1), longestFailurePauseMs);
  }
}

/**
 * Shortens a pause so that the duties of a thread wake it at the same moments: it sleeps longer, and what they ask
 * of the store goes out together.
 */
export function onGrid(pauseMs: number, nowMs: number): number {
  if (pauseMs < gridMs) return pauseMs;
  return Math.floor((nowMs + pauseMs) / gridMs) * gridMs - nowMs;
}
