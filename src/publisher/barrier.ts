import { toError } from "../foundation/errors.ts";
import { randomHex } from "../foundation/ids.ts";
import { within } from "../foundation/time.ts";
import type { JobFacts } from "../instrumentation/events.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Delivered } from "./delivery.ts";
import type { Draft } from "./draft.ts";

/** The id of a publication barrier (protocol, section 3). */
export function newBarrier(): string {
  return randomHex(16);
}

/** Lets workers have what was stored. Where that fails the store does it by itself after 30 s. */
export async function liftBarrier(
  barrier: string,
  { store, endsAt }: Delivered,
  logger: Logger,
): Promise<void> {
  const leftMs = Math.max(1, endsAt - performance.now());
  try {
    const outcome = await within(leftMs, store.releaseBarrier(barrier), "late" as const);
    if (outcome === "late") logger.warn("releasing published jobs got no answer; they start within 30 s");
  } catch (error) {
    logger.warn("releasing published jobs failed; they start within 30 s", { error: toError(error).message });
  }
}

/** What an instrumenter is told of a job that is being published. */
export function factsOf({ context, request, nowMs }: Draft, defaultMaxFailures: number): JobFacts {
  const { retryWithin, retryChannel } = request;
  return {
    id: context.id,
    task: request.task,
    channel: context.channel,
    arguments: context.arguments,
    maxFailures: request.maxFailures ?? defaultMaxFailures,
    createdMs: nowMs,
    queuedMs: nowMs,
    failureCount: 0,
    ...(retryWithin === undefined ? {} : { retryWithin }),
    ...(retryChannel === undefined ? {} : { retryChannel }),
  };
}
