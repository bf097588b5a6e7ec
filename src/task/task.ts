// biome-ignore-all lint/complexity/noThisInStatic: `this` is the subclass, which is what counts
import type { Envelope } from "../envelope/envelope.ts";
import type { Logger } from "../instrumentation/logger.ts";
import { taskBrand } from "./brand.ts";
import { capturedJobs } from "./captured.ts";
import { Enqueuer, noOptions } from "./enqueuer.ts";
import { takeExecution } from "./execution-slot.ts";
import { executeInline } from "./inline.ts";
import { checkPublishOptions } from "./options.ts";
import type {
  CapturedJob,
  Execution,
  ManyArguments,
  PublishOptions,
  RunningTask,
  Storable,
  TaskClass,
} from "./types.ts";

/** Not private to the class, so that tasks of two copies of the package have one type. */
const execution: unique symbol = Symbol("execution");

/**
 * The base of a user's tasks. A subclass has `executeTask` and may have static `options`, `retryDelay` and
 * `afterFinalFailure` (see `TaskClass`). Each execution runs on a fresh instance, built without arguments.
 *
 * The static methods take the arguments that the subclass's `executeTask` has. Where it is overloaded,
 * those of its last overload.
 */
export abstract class Task implements RunningTask {
  static readonly [taskBrand] = true;

  /** Takes the execution it is built for before a subclass's field initialisers run. */
  readonly [execution]?: Execution | undefined = takeExecution();

  // biome-ignore lint/suspicious/noExplicitAny: each task has parameters of its own
  abstract executeTask(...args: any[]): unknown;

  /** The id of the job that is being executed. */
  get taskId(): string {
    return executionOf(this, "taskId").envelope.id;
  }

  /** The stored record of the job that is being executed. */
  get envelope(): Envelope {
    return executionOf(this, "envelope").envelope;
  }

  /** 1 for the first run of this job. */
  get attempt(): number {
    return executionOf(this, "attempt").attempt;
  }

  /** Aborted at the job's timeout, at its cancellation and at the node's shutdown deadline. */
  get signal(): AbortSignal {
    return executionOf(this, "signal").signal;
  }

  /** Adds the job's id and task to each line. */
  get logger(): Logger {
    return executionOf(this, "logger").logger;
  }

  /**
   * Publishes a job to its channel.
   *
   * @returns its id, or undefined when an interceptor stopped the publication
   * @throws ArgumentsError | PayloadTooLarge | ConfigurationError | StoreFull | StoreUnavailable: not stored
   * @throws PublishUnconfirmed: it may be stored or not
   */
  static async enqueue<A extends unknown[]>(
    this: TaskClass<A>,
    ...args: Storable<A>
  ): Promise<string | undefined> {
    return new Enqueuer<A>(this, noOptions).publish(args, undefined);
  }

  /**
   * Publishes one job for each list of arguments, in batches of at most 500 jobs or 1 MiB; the lists are
   * pulled as batches are stored.
   *
   * @returns the ids of the stored jobs, in order; those that an interceptor stopped are left out
   * @throws as `enqueue`; once a batch is stored `PublishUnconfirmed`, which says what is stored
   */
  static async enqueueMany<A extends unknown[]>(
    this: TaskClass<A>,
    jobs: ManyArguments<A>,
  ): Promise<string[]> {
    return new Enqueuer<A>(this, noOptions).enqueueMany(jobs);
  }

  /** Publishes a job that becomes ready `seconds` from now, by the store's clock. Throws as `enqueue`. */
  static async enqueueAfter<A extends unknown[]>(
    this: TaskClass<A>,
    seconds: number,
    ...args: Storable<A>
  ): Promise<string | undefined> {
    return new Enqueuer<A>(this, noOptions).enqueueAfter(seconds, ...args);
  }

  /**
   * Publishes a job that becomes ready at `time`, a Date or epoch seconds (a number above 1e11 must be
   * milliseconds and is refused). Throws as `enqueue`.
   */
  static async scheduleAt<A extends unknown[]>(
    this: TaskClass<A>,
    time: Date | number,
    ...args: Storable<A>
  ): Promise<string | undefined> {
    return new Enqueuer<A>(this, noOptions).scheduleAt(time, ...args);
  }

  /**
   * The same publishing methods with options of their own for what is published through them.
   *
   * @throws ConfigurationError for an option that is unknown or ill-typed
   */
  static withOptions<A extends unknown[]>(this: TaskClass<A>, options: PublishOptions): Enqueuer<A> {
    return new Enqueuer<A>(this, checkPublishOptions(options));
  }

  /**
   * Runs the task here and now, through JSON and the interceptors as a worker would, without the store.
   *
   * @returns what `executeTask` returns
   * @throws what it throws; there is no retry
   */
  static async execute<A extends unknown[], R>(
    this: TaskClass<A, R>,
    ...args: Storable<A>
  ): Promise<Awaited<R>> {
    return (await executeInline(this, args)) as Awaited<R>;
  }

  /** In a test mode: the jobs of this class that were published and not run, the oldest first. */
  static captured<A extends unknown[]>(this: TaskClass<A>): readonly CapturedJob<A>[] {
    return capturedJobs("captured").of(this) as readonly CapturedJob<A>[];
  }

  /** In a test mode: forgets the captured jobs of this class. */
  static clearCaptured(this: TaskClass): void {
    capturedJobs("clearCaptured").clear(this);
  }

  /**
   * In a test mode: takes the oldest captured job of this class and runs it as `execute` does, whether it
   * is due or not.
   *
   * @throws what the task throws; an Error when no job of this class is captured
   */
  static async executeNext<A extends unknown[], R>(this: TaskClass<A, R>): Promise<Awaited<R>> {
    return (await capturedJobs("executeNext").executeNext(this)) as Awaited<R>;
  }
}

function executionOf(task: Task, property: string): Execution {
  const current = task[execution];
  if (current !== undefined) return current;
  throw new Error(
    `this.${property} is there only while the task is executed: run it with ` +
      `${task.constructor.name}.execute(...) instead of new ${task.constructor.name}()`,
  );
}
