import { Emitter } from "../instrumentation/emitter.ts";
import type { InstrumenterClass } from "../instrumentation/events.ts";
import type { Logger, LogLevel } from "../instrumentation/logger.ts";
import { createLogger } from "../instrumentation/logger-output.ts";
import { processConfiguration, processSettings } from "./process.ts";

/** What publishing and running jobs share in one thread, for as long as the configuration is the same. */
interface Slot {
  logger?: { readonly level: LogLevel; readonly logger: Logger };
  emitter?: { readonly classes: readonly InstrumenterClass[]; readonly emitter: Emitter };
}

const slotKey = Symbol.for("solid-jobs.thread-parts");

function threadSlot(): Slot {
  const holder = globalThis as { [slotKey]?: Slot };
  holder[slotKey] ??= {};
  return holder[slotKey];
}

/** This thread's logger, at the level of its settings. */
export function threadLogger(): Logger {
  const slot = threadSlot();
  const { logLevel } = processSettings();
  if (slot.logger?.level !== logLevel) {
    slot.logger = { level: logLevel, logger: createLogger({ level: logLevel }) };
  }
  return slot.logger.logger;
}

/**
 * This thread's emitter, so that each instrumenter is constructed once in a thread that both publishes and
 * runs jobs.
 *
 * @throws ConfigurationError when an instrumenter cannot be constructed
 */
export function threadEmitter(): Emitter {
  const slot = threadSlot();
  const classes = processConfiguration().hooks.instrumenters;
  if (slot.emitter === undefined || !isSame(slot.emitter.classes, classes)) {
    slot.emitter = { classes, emitter: new Emitter(classes, threadLogger()) };
  }
  return slot.emitter.emitter;
}

function isSame(some: readonly unknown[], others: readonly unknown[]): boolean {
  return some.length === others.length && some.every((each, index) => each === others[index]);
}
