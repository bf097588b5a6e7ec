import { ConfigurationError } from "../foundation/errors.ts";
import type { Due } from "../store/store.ts";

/** Above it a number must be milliseconds: as seconds it would be the year 5138. */
const maxEpochSeconds = 1e11;

/**
 * Seconds from the store's now.
 *
 * @throws ConfigurationError unless they are a finite number from 0
 */
export function dueAfter(seconds: number): Due {
  if (typeof seconds !== "number" || !(seconds >= 0) || seconds > maxEpochSeconds) {
    throw new ConfigurationError(
      `enqueueAfter: expected seconds, a finite number from 0, got ${String(seconds)}. Nothing was published.`,
      { code: "DUE" },
    );
  }
  return { afterSeconds: seconds };
}

/**
 * A point in time: a Date, or epoch seconds. One in the past is due at once.
 *
 * @throws ConfigurationError for an invalid Date, and for numbers that are negative or milliseconds
 */
export function dueAt(time: Date | number): Due {
  if (time instanceof Date) {
    const ms = time.getTime();
    if (Number.isNaN(ms)) throw badTime("an invalid Date");
    return { atSeconds: epochSeconds(ms / 1000, time.toISOString()) };
  }
  if (typeof time !== "number" || !Number.isFinite(time)) throw badTime(String(time));
  return { atSeconds: epochSeconds(time, String(time)) };
}

function epochSeconds(seconds: number, given: string): number {
  if (seconds < 0) throw badTime(`${given}, before 1970`);
  if (seconds > maxEpochSeconds) {
    throw badTime(`${given}, which must be milliseconds: pass new Date(milliseconds)`);
  }
  return seconds;
}

function badTime(given: string): ConfigurationError {
  return new ConfigurationError(
    `scheduleAt: expected a Date or epoch seconds, got ${given}. Nothing was published.`,
    { code: "DUE" },
  );
}

/** As a Date, by this machine's clock. */
export function dueDate(due: Due, nowMs: number): Date {
  return new Date("atSeconds" in due ? due.atSeconds * 1000 : nowMs + due.afterSeconds * 1000);
}
