import { type Clock, systemClock } from "../foundation/clock.ts";
import { ConfigurationError, toError } from "../foundation/errors.ts";
import type { Instrumenter, InstrumenterClass, JobEvent } from "./events.ts";
import type { Logger } from "./logger.ts";

/** How often an instrumenter's errors are logged at most: a broken one must not flood the log. */
const complaintIntervalMs = 1000;

interface Listener {
  readonly instrumenter: Instrumenter;
  readonly name: string;
  lastComplaintMs: number;
  unlogged: number;
}

/**
 * Tells this thread's instrumenters what happens to jobs. Each class is constructed once, here. What an
 * instrumenter throws, or rejects with, is logged (at most once a second, with the number left out) and
 * touches neither the job nor the other instrumenters.
 */
export class Emitter {
  /** False when nobody listens: hot paths need not build their events then. */
  readonly isListening: boolean;
  readonly #listeners: readonly Listener[];
  readonly #logger: Logger;
  readonly #clock: Clock;

  /** @throws ConfigurationError when a class cannot be constructed or has no `record` method */
  constructor(classes: readonly InstrumenterClass[], logger: Logger, clock: Clock = systemClock) {
    this.#listeners = classes.map(listenerOf);
    this.#logger = logger;
    this.#clock = clock;
    this.isListening = classes.length > 0;
  }

  /** Never throws. */
  emit(event: JobEvent): void {
    for (const listener of this.#listeners) {
      try {
        const result: unknown = listener.instrumenter.record(event);
        if (result instanceof Promise) result.catch((error) => this.#complain(listener, event, error));
      } catch (error) {
        this.#complain(listener, event, error);
      }
    }
  }

  #complain(listener: Listener, event: JobEvent, thrown: unknown): void {
    const nowMs = this.#clock.nowMs();
    if (nowMs - listener.lastComplaintMs < complaintIntervalMs) {
      listener.unlogged += 1;
      return;
    }
    const { name: instrumenter, unlogged } = listener;
    listener.lastComplaintMs = nowMs;
    listener.unlogged = 0;
    const more = unlogged === 0 ? {} : { unlogged };
    this.#logger.error("an instrumenter failed", {
      instrumenter,
      event: event.name,
      error: toError(thrown),
      ...more,
    });
  }
}

function listenerOf(instrumenterClass: InstrumenterClass): Listener {
  const name = instrumenterClass.name || "an instrumenter without a name";
  const instrumenter = construct(instrumenterClass, name);
  if (typeof instrumenter.record !== "function") {
    throw new ConfigurationError(`instrumenters: expected a method record(event) in ${name}, which has none`);
  }
  return { instrumenter, name, lastComplaintMs: Number.NEGATIVE_INFINITY, unlogged: 0 };
}

function construct(instrumenterClass: InstrumenterClass, name: string): Instrumenter {
  try {
    return new instrumenterClass();
  } catch (error) {
    throw new ConfigurationError(
      `instrumenters: expected a class that is constructed without arguments, ${name} threw: ${toError(error).message}`,
      { cause: error },
    );
  }
}
