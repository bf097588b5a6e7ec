import { type ProcessConfiguration, processConfiguration, processSettings } from "../config/process.ts";
import type { Settings } from "../config/settings.ts";
import { threadEmitter, threadLogger } from "../config/thread-parts.ts";
import { systemClock } from "../foundation/clock.ts";
import { toError } from "../foundation/errors.ts";
import { storeFor } from "../store/open.ts";
import { LazyStore } from "./lazy-store.ts";
import type { Publisher } from "./publisher.ts";

/** A publisher to use instead of the process's for what `origin`, a task class, publishes. */
export type PublisherOverride = (origin: object) => Publisher | undefined;

interface Current {
  readonly publisher: Publisher;
  readonly store: LazyStore;
  readonly settings: Settings;
  readonly hooks: ProcessConfiguration["hooks"];
}

/** On `globalThis`, so that two copies of the package share one connection and one override. */
interface Slot {
  current: Current | undefined;
  override: PublisherOverride | undefined;
}

const slotKey = Symbol.for("solid-jobs.publishing");

function processSlot(): Slot {
  const holder = globalThis as { [slotKey]?: Slot };
  holder[slotKey] ??= { current: undefined, override: undefined };
  return holder[slotKey];
}

/**
 * The publisher that a task class publishes through: the process's own, made at first use from what
 * `configure` was given (in a node's worker: for the node's store), unless an override has another.
 *
 * @throws ConfigurationError when the settings cannot be used
 */
export function publisherFor(origin: object): Publisher {
  return processSlot().override?.(origin) ?? processPublisher();
}

/** Undefined ends it. */
export function overridePublisher(override: PublisherOverride | undefined): void {
  processSlot().override = override;
}

/**
 * Ends what publishing opened, once publications under way have ended. Publishing again opens it again.
 * A program need not call it: an idle connection does not keep it alive.
 */
export async function close(): Promise<void> {
  const slot = processSlot();
  const { current } = slot;
  slot.current = undefined;
  if (current !== undefined) await retire(current);
}

function processPublisher(): Publisher {
  const slot = processSlot();
  const settings = processSettings();
  const { hooks } = processConfiguration();
  if (slot.current?.settings === settings && slot.current.hooks === hooks) return slot.current.publisher;
  const outdated = slot.current;
  slot.current = openedBy(settings, hooks);
  if (outdated !== undefined) void retire(outdated);
  return slot.current.publisher;
}

function openedBy(settings: Settings, hooks: ProcessConfiguration["hooks"]): Current {
  const logger = threadLogger();
  const store = new LazyStore(storeFor(settings), logger);
  const { Publisher } = require("./publisher.ts") as typeof import("./publisher.ts"); // most workers never publish
  const publisher = new Publisher({
    store: () => store.opened(),
    settings,
    interceptors: hooks.publishInterceptors,
    emitter: threadEmitter(),
    clock: systemClock,
    logger,
    isGathering: true,
  });
  return { publisher, store, settings, hooks };
}

async function retire({ publisher, store }: Current): Promise<void> {
  await publisher.idle();
  try {
    await store.close();
  } catch (error) {
    threadLogger().warn("closing the publisher's store failed", { error: toError(error).message });
  }
}
