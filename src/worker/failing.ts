import type { ErrorContext, ErrorHandler } from "../config/hooks.ts";
import { shown } from "../config/reading.ts";
import type { Settings } from "../config/settings.ts";
import { type Revision, reviseBytes, reviseEnvelope } from "../envelope/codec.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { undecodableEnvelope } from "../envelope/undecodable.ts";
import {
  type FailureOutcome,
  failureOutcome,
  isRetryDecision,
  longestRetryDelay,
  type RetryDecision,
} from "../failure/outcome.ts";
import type { Clock } from "../foundation/clock.ts";
import { PoisonJob, toError } from "../foundation/errors.ts";
import { within } from "../foundation/time.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Reservation, SettlementOutcome } from "../store/store.ts";
import type { TaskClass } from "../task/types.ts";

export interface FailingDependencies {
  readonly settings: Settings;
  readonly logger: Logger;
  /** The store's. */
  readonly clock: Clock;
  readonly errorHandlers: readonly ErrorHandler[];
  /** Milliseconds that each call of user code may take. Default 30,000. */
  readonly patienceMs?: number;
  /** The exact bytes of a claimed payload, or undefined when the claim no longer holds it. */
  exactBytes(reservation: Reservation): Promise<Uint8Array | undefined>;
}

const longestCallMs = 30_000;
const late: unique symbol = Symbol("late");

export interface FailedJob {
  readonly reservation: Reservation;
  readonly envelope: Envelope;
  /** Undefined for a task that no module registers. */
  readonly taskClass: TaskClass | undefined;
  readonly attempt: number;
  readonly error: Error;
}

/**
 * From an error to the settlement, in steps: tell the error handlers, ask the task's `retryDelay`, decide,
 * tell `afterFinalFailure`, write the failure into the envelope. User code that throws here is logged and
 * changes nothing; what has not ended after 30 s is left behind, since the failed job holds its slot meanwhile.
 */
export class Failing {
  private readonly with: FailingDependencies;

  constructor(dependencies: FailingDependencies) {
    this.with = dependencies;
  }

  async settle(job: FailedJob): Promise<{ settlement: SettlementOutcome; outcome: FailureOutcome }> {
    const { envelope, error, attempt, reservation } = job;
    await this.report(error, { envelope, attempt, channel: reservation.channel, logger: this.with.logger });
    const outcome = failureOutcome(envelope, error, {
      decision: await this.decision(job),
      nowMs: this.with.clock.nowMs(),
      backoff: this.with.settings,
    });
    if (outcome.kind === "archive") await this.tellFinal(job);
    return { settlement: await this.settlementOf(outcome, reservation), outcome };
  }

  /** An envelope that cannot be read is archived at once, with its raw bytes: no retry can mend it. */
  async settleUndecodable(reservation: Reservation, error: Error): Promise<SettlementOutcome> {
    await this.report(error, { channel: reservation.channel, logger: this.with.logger });
    const bytes = (await this.with.exactBytes(reservation)) ?? Buffer.from(reservation.raw);
    const nowMs = this.with.clock.nowMs();
    const payload = undecodableEnvelope(bytes, { channel: reservation.channel, error, nowMs });
    return { outcome: "archive", payload };
  }

  /** Each handler gets the error; one that throws is logged. */
  async report(error: Error, context: ErrorContext): Promise<void> {
    for (const handler of this.with.errorHandlers) {
      await this.guarded("an error handler", () => handler(error, context));
    }
  }

  private async decision({ taskClass, envelope, error }: FailedJob): Promise<RetryDecision> {
    if (error instanceof PoisonJob) return "archive";
    if (taskClass?.retryDelay === undefined) return undefined;
    const answer = await this.guarded(`${envelope.task}.retryDelay`, () =>
      taskClass.retryDelay?.(envelope.failureCount + 1, error, envelope),
    );
    if (isRetryDecision(answer)) return answer;
    this.with.logger.error(
      `${envelope.task}.retryDelay must return seconds from 0 to ${longestRetryDelay}, "drop", "archive" or undefined, got ${shown(answer)}; the default backoff is used`,
    );
    return undefined;
  }

  private async tellFinal({ taskClass, envelope, error }: FailedJob): Promise<void> {
    if (taskClass?.afterFinalFailure === undefined) return;
    await this.guarded(`${envelope.task}.afterFinalFailure`, () =>
      taskClass.afterFinalFailure?.(envelope, error),
    );
  }

  private async settlementOf(outcome: FailureOutcome, reservation: Reservation): Promise<SettlementOutcome> {
    if (outcome.kind === "drop") return { outcome: "drop" };
    const payload = await this.revised(reservation, outcome.revision);
    if (outcome.kind === "archive") return { outcome: "archive", payload };
    return { outcome: "retry", delaySeconds: outcome.delaySeconds, payload };
  }

  /** Text with a replacement character may stand for bytes that were lost on the way: ask for them. */
  private async revised(reservation: Reservation, revision: Revision): Promise<string | Uint8Array> {
    if (!reservation.raw.includes("\uFFFD")) return reviseEnvelope(reservation.raw, revision);
    const bytes = await this.with.exactBytes(reservation);
    return bytes === undefined ? reviseEnvelope(reservation.raw, revision) : reviseBytes(bytes, revision);
  }

  private async guarded<T>(what: string, call: () => T | Promise<T>): Promise<T | undefined> {
    const { logger, patienceMs = longestCallMs } = this.with;
    try {
      const ended = await within(patienceMs, Promise.resolve(call()), late);
      if (ended !== late) return ended;
      logger.error(`${what} has not ended after ${patienceMs / 1000} s: it is left behind`);
      return undefined;
    } catch (thrown) {
      logger.error(`${what} threw`, { error: toError(thrown) });
      return undefined;
    }
  }
}
