/**
 * The errors of the library. Each has a stable `code` for programs and a message for people that says
 * what was expected, what came and what to do. Both stores throw the same ones. Each says its name itself:
 * a bundler renames classes, and the name is stored with a failed job.
 */
export class SolidJobsError extends Error {
  override readonly name: string = "SolidJobsError";
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.code = code;
  }
}

/** A setting, flag, task option or module that cannot be used. Nothing was started. */
export class ConfigurationError extends SolidJobsError {
  override readonly name: string = "ConfigurationError";

  constructor(message: string, options?: { cause?: unknown; code?: string }) {
    super(options?.code ?? "CONFIGURATION", message, options);
  }
}

/** Arguments that JSON cannot carry unchanged. Nothing was published. */
export class ArgumentsError extends SolidJobsError {
  override readonly name: string = "ArgumentsError";
  /** Where the offender stands, such as `arguments[0].when`. */
  readonly path: string;

  constructor(message: string, path: string) {
    super("ARGUMENTS", message);
    this.path = path;
  }
}

/** An envelope over the payload limit. Nothing was published. */
export class PayloadTooLarge extends SolidJobsError {
  override readonly name: string = "PayloadTooLarge";

  constructor(message: string) {
    super("PAYLOAD_TOO_LARGE", message);
  }
}

/** The store refused the publication because it is full (Redis at `maxmemory`). Nothing was published. */
export class StoreFull extends SolidJobsError {
  override readonly name: string = "StoreFull";

  constructor(message: string, options?: { cause?: unknown }) {
    super("STORE_FULL", message, options);
  }
}

/**
 * The store did not answer, or the connection broke.
 * `isSent` tells whether the command may have reached the store: its outcome is then unknown.
 */
export class StoreUnavailable extends SolidJobsError {
  override readonly name: string = "StoreUnavailable";
  readonly isSent: boolean;

  constructor(message: string, options: { isSent: boolean; cause?: unknown }) {
    super("STORE_UNAVAILABLE", message, options);
    this.isSent = options.isSent;
  }
}

/** The store is there but must not be used: too old, wrong password, cluster mode, eviction policy. */
export class StoreUnsuitable extends SolidJobsError {
  override readonly name: string = "StoreUnsuitable";

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** The store answered with an error that no retry will mend (a key of the wrong type, no permission). */
export class StoreError extends SolidJobsError {
  override readonly name: string = "StoreError";

  constructor(message: string, options?: { cause?: unknown }) {
    super("STORE_ERROR", message, options);
  }
}

/**
 * A publication whose reply was lost. `confirmedIds` are stored for certain; `unconfirmedIds` may or may
 * not be. Nothing is sent again by the library: publish the unconfirmed ones again (with
 * `withOptions({ id })` where a double matters) once `Catalog.locate(id)` does not find them.
 */
export class PublishUnconfirmed extends SolidJobsError {
  override readonly name: string = "PublishUnconfirmed";
  readonly confirmedIds: readonly string[];
  readonly unconfirmedIds: readonly string[];

  constructor(
    message: string,
    ids: { confirmedIds: readonly string[]; unconfirmedIds: readonly string[] },
    options?: { cause?: unknown },
  ) {
    super("PUBLISH_UNCONFIRMED", message, options);
    this.confirmedIds = ids.confirmedIds;
    this.unconfirmedIds = ids.unconfirmedIds;
  }
}

/** A stored envelope that cannot be read. It is archived with its raw bytes. */
export class UndecodableEnvelope extends SolidJobsError {
  override readonly name: string = "UndecodableEnvelope";

  constructor(message: string, options?: { cause?: unknown }) {
    super("UNDECODABLE_ENVELOPE", message, options);
  }
}

/** A stored envelope that names a task no loaded module registers. It takes the usual retry path. */
export class UnknownTask extends SolidJobsError {
  override readonly name: string = "UnknownTask";

  constructor(message: string) {
    super("UNKNOWN_TASK", message);
  }
}

/** A job still running at its `timeout`: its signal is aborted with this as the reason. */
export class JobTimeout extends SolidJobsError {
  override readonly name: string = "JobTimeout";

  constructor(message: string) {
    super("JOB_TIMEOUT", message);
  }
}

/** The thread that ran the job died (`process.exit`, termination, out of memory in a native call). */
export class ThreadDied extends SolidJobsError {
  override readonly name: string = "ThreadDied";

  constructor(message: string, options?: { cause?: unknown }) {
    super("THREAD_DIED", message, options);
  }
}

/** A job whose node or thread died too often while it ran, the last time alone on its node: it is not run again. */
export class PoisonJob extends SolidJobsError {
  override readonly name: string = "PoisonJob";

  constructor(message: string) {
    super("POISON_JOB", message);
  }
}

/** The node stops: running jobs' signals are aborted with this as the reason after the shutdown timeout. */
export class NodeStopping extends SolidJobsError {
  override readonly name: string = "NodeStopping";

  constructor(message: string) {
    super("NODE_STOPPING", message);
  }
}

/**
 * Any thrown value as an Error whose name and message are texts, so that `throw "text"` keeps its text and
 * an error of a job that is no usual one (a message that is an object, a getter that throws) cannot fail
 * what records it. Such an error stays as the `cause`. Never throws.
 */
export function toError(thrown: unknown): Error {
  try {
    if (!(thrown instanceof Error)) return new Error(textOf(thrown));
    const { name, message } = thrown;
    if (typeof name === "string" && typeof message === "string") return thrown;
    const readable = new Error(textOf(message), { cause: thrown });
    if (typeof name === "string") readable.name = name;
    return readable;
  } catch (unreadable) {
    return new Error("what was thrown cannot be read", { cause: unreadable });
  }
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : Bun.inspect(value, { depth: 2 });
}
