/**
 * The errors of the library. Each has a stable `code` for programs and a message for people that says
 * what was expected, what came and what to do. Both stores throw the same ones.
 */
export class SolidJobsError extends Error {
  readonly code: string;

  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(message, options);
    this.name = new.target.name;
    this.code = code;
  }
}

/** A setting, flag, task option or module that cannot be used. Nothing was started. */
export class ConfigurationError extends SolidJobsError {
  constructor(message: string, options?: { cause?: unknown; code?: string }) {
    super(options?.code ?? "CONFIGURATION", message, options);
  }
}

/** Arguments that JSON cannot carry unchanged. Nothing was published. */
export class ArgumentsError extends SolidJobsError {
  /** Where the offender stands, such as `arguments[0].when`. */
  readonly path: string;

  constructor(message: string, path: string) {
    super("ARGUMENTS", message);
    this.path = path;
  }
}

/** An envelope over the payload limit. Nothing was published. */
export class PayloadTooLarge extends SolidJobsError {
  constructor(message: string) {
    super("PAYLOAD_TOO_LARGE", message);
  }
}

/** The store refused the publication because it is full (Redis at `maxmemory`). Nothing was published. */
export class StoreFull extends SolidJobsError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("STORE_FULL", message, options);
  }
}

/**
 * The store did not answer, or the connection broke.
 * `isSent` tells whether the command may have reached the store: its outcome is then unknown.
 */
export class StoreUnavailable extends SolidJobsError {
  readonly isSent: boolean;

  constructor(message: string, options: { isSent: boolean; cause?: unknown }) {
    super("STORE_UNAVAILABLE", message, options);
    this.isSent = options.isSent;
  }
}

/** The store is there but must not be used: too old, wrong password, cluster mode, eviction policy. */
export class StoreUnsuitable extends SolidJobsError {
  constructor(code: string, message: string, options?: { cause?: unknown }) {
    super(code, message, options);
  }
}

/** The store answered with an error that no retry will mend (a key of the wrong type, no permission). */
export class StoreError extends SolidJobsError {
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
  constructor(message: string, options?: { cause?: unknown }) {
    super("UNDECODABLE_ENVELOPE", message, options);
  }
}

/** A stored envelope that names a task no loaded module registers. It takes the usual retry path. */
export class UnknownTask extends SolidJobsError {
  constructor(message: string) {
    super("UNKNOWN_TASK", message);
  }
}

/** A job still running at its `timeout`: its signal is aborted with this as the reason. */
export class JobTimeout extends SolidJobsError {
  constructor(message: string) {
    super("JOB_TIMEOUT", message);
  }
}

/** The thread that ran the job died (`process.exit`, termination, out of memory in a native call). */
export class ThreadDied extends SolidJobsError {
  constructor(message: string, options?: { cause?: unknown }) {
    super("THREAD_DIED", message, options);
  }
}

/** The node stops: running jobs' signals are aborted with this as the reason after the shutdown timeout. */
export class NodeStopping extends SolidJobsError {
  constructor(message: string) {
    super("NODE_STOPPING", message);
  }
}

/** Any thrown value as an Error, so that `throw "text"` keeps its text. */
export function toError(thrown: unknown): Error {
  if (thrown instanceof Error) return thrown;
  const text = typeof thrown === "string" ? thrown : Bun.inspect(thrown, { depth: 2 });
  return new Error(text);
}
