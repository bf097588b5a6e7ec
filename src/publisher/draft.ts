import { channelNameProblem } from "../config/channel.ts";
import { shown } from "../config/reading.ts";
import type { Settings } from "../config/settings.ts";
import { argumentsJson } from "../envelope/arguments.ts";
import { envelopeBytes, idTextOf } from "../envelope/parts.ts";
import { ArgumentsError, ConfigurationError, PayloadTooLarge } from "../foundation/errors.ts";
import { newJobId } from "../foundation/ids.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { PublishContext } from "../interceptor/contexts.ts";
import type { Due } from "../store/store.ts";
import { dueAt, dueDate } from "./due.ts";
import { EncodedPublication } from "./encoded.ts";
import { ShapeMemory } from "./shape-memory.ts";

/** What is to be published, but for the arguments. */
export interface PublicationRequest {
  /** The task's registered name. */
  readonly task: string;
  readonly channel: string;
  /** Default: a new one. */
  readonly id?: string | undefined;
  /** Default: the setting. */
  readonly maxFailures?: number | undefined;
  readonly retryWithin?: number | undefined;
  readonly retryChannel?: string | undefined;
  /** Default: at once. */
  readonly due?: Due | undefined;
}

/** One job between the request and the store: what interceptors see and may change. */
export interface Draft {
  readonly request: PublicationRequest;
  readonly id: string;
  readonly context: PublishContext;
  readonly nowMs: number;
  /** The context's due time as it was given to the interceptors. */
  readonly offeredDue: Date | undefined;
}

export function newDraft(request: PublicationRequest, args: readonly unknown[], nowMs: number): Draft {
  const offeredDue = request.due === undefined ? undefined : dueDate(request.due, nowMs);
  const id = request.id ?? newJobId();
  const context: PublishContext = {
    task: request.task,
    arguments: args as unknown[],
    channel: request.channel,
    id,
  };
  if (offeredDue !== undefined) context.due = offeredDue;
  return { request, id, context, nowMs, offeredDue };
}

/** What an interceptor may have put in place of what was checked when the job was asked for. */
function refuseSpoilt({ request, id, context }: Draft): void {
  if (context.channel !== request.channel) {
    const problem = channelNameProblem(context.channel);
    if (problem !== undefined) throw spoilt(request, problem);
  }
  if (context.id !== id) throw spoilt(request, `a job's id cannot be changed, got ${shown(context.id)}`);
  if (!Array.isArray(context.arguments)) {
    throw spoilt(request, `the arguments must be a list, got ${shown(context.arguments)}`);
  }
}

function spoilt({ task }: PublicationRequest, problem: string): ConfigurationError {
  return new ConfigurationError(
    `a publish interceptor spoilt a job of ${task}: ${problem}. Nothing was published.`,
  );
}

/** Seconds from now stay seconds from the store's now, unless an interceptor named another time. */
export function dueOf({ request, context, offeredDue }: Draft): Due | undefined {
  if (context.due === offeredDue) return request.due;
  return context.due === undefined ? undefined : dueAt(context.due);
}

/** Checks and encodes drafts by the settings. */
export class Encoder {
  private readonly settings: Settings;
  private readonly onComplex: ((problem: string) => void) | undefined;
  private readonly shapes = new ShapeMemory();

  constructor({ settings, logger }: { settings: Settings; logger: Logger }) {
    this.settings = settings;
    if (settings.onComplexArguments === "warn") this.onComplex = (problem) => logger.warn(problem);
  }

  /**
   * @param index of the job among many, for the path in errors
   * @throws ArgumentsError | PayloadTooLarge
   */
  encode(draft: Draft, barrier?: string, index?: number): EncodedPublication {
    const { request, context, nowMs } = draft;
    refuseSpoilt(draft);
    const { task, retryWithin, retryChannel, maxFailures = this.settings.maxFailures } = request;
    const { channel } = context;
    const parts = {
      shape: this.shapes.of({ task, channel, maxFailures, retryWithin, retryChannel, barrier }),
      idText: idTextOf(context.id),
      nowMs,
      argumentsJson: this.argumentsJson(context.arguments, index),
    };
    const bytes = envelopeBytes(parts);
    if (bytes > this.settings.payloadLimit) throw this.tooLarge(draft, bytes);
    return new EncodedPublication({
      id: context.id,
      channel: context.channel,
      parts,
      bytes,
      due: dueOf(draft),
    });
  }

  private argumentsJson(args: readonly unknown[], index: number | undefined): string {
    if (index === undefined) return argumentsJson(args, this.onComplex);
    try {
      return argumentsJson(args, this.onComplex);
    } catch (error) {
      if (!(error instanceof ArgumentsError)) throw error;
      throw new ArgumentsError(`jobs[${index}].${error.message}`, `jobs[${index}].${error.path}`);
    }
  }

  private tooLarge({ request, context }: Draft, bytes: number): PayloadTooLarge {
    return new PayloadTooLarge(
      `${request.task} ${context.id}: the envelope takes ${bytes} bytes, the limit is ` +
        `${this.settings.payloadLimit}. Store the data elsewhere and pass a reference, or raise the ` +
        "setting payloadLimit (payload_limit in files). The job was not published.",
    );
  }
}
