import { ConfigurationError } from "../foundation/errors.ts";
import type { PublicationRequest } from "../publisher/draft.ts";
import { dueAfter, dueAt } from "../publisher/due.ts";
import { publisherFor } from "../publisher/process-publisher.ts";
import type { Due } from "../store/store.ts";
import { isConcreteTask } from "./brand.ts";
import { checkPublishOptions, optionsOf, type ResolvedOptions } from "./options.ts";
import type { ManyArguments, PublishOptions, Storable, TaskClass } from "./types.ts";

/** Publishes jobs of one class with options of its own: what `Task.withOptions` returns. */
export class Enqueuer<A extends unknown[]> {
  private readonly taskClass: TaskClass<A>;
  private readonly options: PublishOptions;

  constructor(taskClass: TaskClass<A>, options: PublishOptions) {
    this.taskClass = taskClass;
    this.options = options;
  }

  /** These options over the ones it has. @throws ConfigurationError for one that is unknown or ill-typed */
  withOptions(options: PublishOptions): Enqueuer<A> {
    return new Enqueuer(this.taskClass, { ...this.options, ...checkPublishOptions(options) });
  }

  /** See `Task.enqueue`. */
  async enqueue(...args: Storable<A>): Promise<string | undefined> {
    return this.publish(args, undefined);
  }

  /** See `Task.enqueueMany`. */
  async enqueueMany(jobs: ManyArguments<A>): Promise<string[]> {
    if (this.options.id !== undefined) {
      throw new ConfigurationError("withOptions({ id }) is for one job: call enqueue, not enqueueMany");
    }
    return publisherFor(this.taskClass).publishMany(this.request(undefined), jobs);
  }

  /** See `Task.enqueueAfter`. */
  async enqueueAfter(seconds: number, ...args: Storable<A>): Promise<string | undefined> {
    return this.publish(args, dueAfter(seconds));
  }

  /** See `Task.scheduleAt`. */
  async scheduleAt(time: Date | number, ...args: Storable<A>): Promise<string | undefined> {
    return this.publish(args, dueAt(time));
  }

  /** What `enqueue` does, without a promise of its own. @throws ConfigurationError for a class that is no task */
  publish(args: readonly unknown[], due: Due | undefined): Promise<string | undefined> {
    const request = this.request(due);
    return publisherFor(this.taskClass).publish(request, args);
  }

  private request(due: Due | undefined): PublicationRequest {
    if (!isConcreteTask(this.taskClass)) {
      throw new ConfigurationError(
        `${nameOf(this.taskClass)} cannot be published: expected a class that extends Task and has executeTask`,
      );
    }
    const options = optionsOf(this.taskClass);
    if (due === undefined && this.options === noOptions) return plainRequest(options);
    const { name, channel, maxFailures, retryWithin, retryChannel } = options;
    return { task: name, channel, maxFailures, retryWithin, retryChannel, due, ...this.options };
  }
}

/** What `Task.enqueue` and `Task.enqueueMany` publish with. */
export const noOptions: PublishOptions = Object.freeze({});

/** Made once for each class. */
const plainRequests = new WeakMap<ResolvedOptions, PublicationRequest>();

function plainRequest(options: ResolvedOptions): PublicationRequest {
  const known = plainRequests.get(options);
  if (known !== undefined) return known;
  const { name, channel, maxFailures, retryWithin, retryChannel } = options;
  const request = { task: name, channel, maxFailures, retryWithin, retryChannel };
  plainRequests.set(options, request);
  return request;
}

function nameOf(value: unknown): string {
  return typeof value === "function" && value.name !== "" ? value.name : String(value);
}
