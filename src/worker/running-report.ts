import { fieldSpans } from "../envelope/spans.ts";
import { toError } from "../foundation/errors.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Executor as ExecutorName, RunningJob, Store } from "../store/store.ts";
import type { Execution } from "./execution.ts";
import type { Executor } from "./executor.ts";

const intervalMs = 3000;
/** Timers are not that exact: a look that is this early need not wait for the next tick. */
const earlyMs = 500;
/** Shorter jobs are over before anybody reads of them. */
const shownAfterMs = 1000;

/** Shows in the store what this worker runs, every three seconds when it changed, apart from the beat. */
export class RunningReport {
  private readonly with: { store: Store; name: ExecutorName; executor: Executor; logger: Logger };
  private lookedAt = performance.now();
  private shown = "";
  private isFailing = false;

  constructor(dependencies: { store: Store; name: ExecutorName; executor: Executor; logger: Logger }) {
    this.with = dependencies;
  }

  /** Called at shorter intervals. */
  look(): void {
    const now = performance.now();
    if (now - this.lookedAt < intervalMs - earlyMs) return;
    this.lookedAt = now;
    void this.show(this.current());
  }

  async stop(): Promise<void> {
    if (this.shown !== "") await this.show([]);
  }

  private current(): Execution[] {
    const now = Date.now();
    return [...this.with.executor.running.values()].filter(
      ({ startedAtMs }) => now - startedAtMs >= shownAfterMs,
    );
  }

  private async show(executions: readonly Execution[]): Promise<void> {
    const tokens = executions.map(({ reservation }) => reservation.token).join();
    if (tokens === this.shown && tokens === "") return;
    try {
      await this.with.store.showRunning(this.with.name, executions.map(runningJob));
      this.shown = tokens;
      this.isFailing = false;
    } catch (thrown) {
      if (!this.isFailing) this.with.logger.debug("running jobs are not shown", { error: toError(thrown) });
      this.isFailing = true;
    }
  }
}

function runningJob({ reservation, startedAtMs, attempt }: Execution): RunningJob {
  const { slot, token, channel, raw } = reservation;
  return { slot, token, channel, envelopeJson: withoutArguments(raw), startedAtMs, attempt };
}

/** The envelope as the family shows it, without the one field that can be large or private. */
function withoutArguments(raw: string): string {
  const kept = fieldSpans(raw).spans.filter(({ name }) => name !== "arguments");
  return `{${kept.map(({ start, end }) => raw.slice(start, end)).join(",")}}`;
}
