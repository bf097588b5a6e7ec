import { processConfiguration, processSettings } from "../config/process.ts";
import { threadLogger } from "../config/thread-parts.ts";
import { argumentsJson } from "../envelope/arguments.ts";
import { decodeEnvelope, encodeEnvelope } from "../envelope/codec.ts";
import type { Envelope } from "../envelope/envelope.ts";
import { systemClock } from "../foundation/clock.ts";
import { JobTimeout } from "../foundation/errors.ts";
import { newJobId } from "../foundation/ids.ts";
import { optionsOf } from "./options.ts";
import { performTask } from "./perform.ts";
import type { TaskClass } from "./types.ts";

/**
 * Runs a job here and now, as a worker would: its arguments go through JSON, the interceptors run around
 * it, and its signal is aborted at its timeout. A failure is thrown, not retried.
 */
export async function executeInline(taskClass: TaskClass, args: readonly unknown[]): Promise<unknown> {
  const options = optionsOf(taskClass);
  const stored = encodeEnvelope({
    id: newJobId(),
    task: options.name,
    channel: options.channel,
    argumentsJson: argumentsJson(args),
    maxFailures: options.maxFailures ?? processSettings().maxFailures,
    nowMs: systemClock.nowMs(),
    retryWithin: options.retryWithin,
    retryChannel: options.retryChannel,
  });
  return executeEnvelope(taskClass, decodeEnvelope(stored));
}

/** The same for an envelope that is there already. */
export async function executeEnvelope(taskClass: TaskClass, envelope: Envelope): Promise<unknown> {
  const { timeout } = optionsOf(taskClass);
  const controller = new AbortController();
  const timer =
    timeout === undefined
      ? undefined
      : setTimeout(() => controller.abort(late(envelope, timeout)), timeout * 1000);
  try {
    const logger = threadLogger().with({ id: envelope.id, task: envelope.task });
    const execution = { envelope, attempt: 1, signal: controller.signal, logger };
    return await performTask(taskClass, execution, processConfiguration().hooks.executeInterceptors);
  } finally {
    clearTimeout(timer);
  }
}

function late(envelope: Envelope, seconds: number): JobTimeout {
  return new JobTimeout(`${envelope.task} ${envelope.id} still runs after its timeout of ${seconds} s`);
}
