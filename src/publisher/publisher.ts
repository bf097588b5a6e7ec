import type { Settings } from "../config/settings.ts";
import type { Clock } from "../foundation/clock.ts";
import type { JobEvent } from "../instrumentation/events.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { PublishInterceptor } from "../interceptor/contexts.ts";
import { runOnion } from "../interceptor/onion.ts";
import { factsOf, liftBarrier, newBarrier } from "./barrier.ts";
import { Batch } from "./batch.ts";
import { Delivery, type StoreSource } from "./delivery.ts";
import { Encoder, newDraft, type PublicationRequest } from "./draft.ts";
import { Gathering } from "./gathering.ts";
import { type ManyJobs, ManyPublication } from "./many.ts";

/** Where the publisher reports to. It must not throw. */
export interface PublicationEvents {
  /** False: nobody would see an event, and publications need no barrier. */
  readonly isListening: boolean;
  emit(event: JobEvent): void;
}

export interface PublisherParts {
  readonly store: StoreSource;
  readonly settings: Settings;
  readonly interceptors: readonly PublishInterceptor[];
  readonly emitter: PublicationEvents;
  readonly clock: Clock;
  readonly logger: Logger;
  /** Jobs that are published side by side are stored in one call. Default: each in a call of its own. */
  readonly isGathering?: boolean;
}

/**
 * Turns requests into stored envelopes. Its duties in order:
 *
 * 1. run the interceptors, which may change a job or stop it
 * 2. check and encode the arguments, and the size of the envelope
 * 3. when there is an instrumenter: tell it, and put up a barrier, so that no worker reserves the job
 *    before the instrumenter knows that it is stored
 * 4. hand the envelopes to the store under a deadline, once
 * 5. tell the instrumenter, and lift the barrier
 */
export class Publisher {
  private readonly parts: PublisherParts;
  private readonly encoder: Encoder;
  private readonly delivery: Delivery;
  /** For what needs no more than to be stored: no interceptor, and nobody who listens. */
  private readonly gathering: Gathering | undefined;
  private readonly underWay = new Set<Promise<unknown>>();

  constructor(parts: PublisherParts) {
    this.parts = parts;
    this.encoder = new Encoder(parts);
    this.delivery = new Delivery(parts.store, parts.settings.publishDeadline);
    const isPlain = parts.interceptors.length === 0 && !parts.emitter.isListening;
    if (parts.isGathering && isPlain) this.gathering = new Gathering(this.delivery);
  }

  /**
   * Publishes one job.
   *
   * @returns its id, or undefined when an interceptor stopped it
   * @throws ArgumentsError | PayloadTooLarge | StoreFull | StoreError: it is not stored
   * @throws StoreUnavailable: it is certainly not stored
   * @throws PublishUnconfirmed: it may be stored or not
   */
  publish(request: PublicationRequest, args: readonly unknown[]): Promise<string | undefined> {
    const { gathering } = this;
    if (gathering !== undefined) return this.gather(gathering, request, args);
    return this.tracked(this.publishOne(request, args));
  }

  /**
   * Publishes one job for each list of arguments, in batches of at most 500 envelopes or 1 MiB. Lists are
   * pulled as batches are stored, so that they do not pile up.
   *
   * @returns the ids of the stored ones, in order; those that an interceptor stopped are left out
   * @throws as `publish`, and `PublishUnconfirmed` with the `confirmedIds` once a batch is stored
   */
  publishMany(request: PublicationRequest, jobs: ManyJobs): Promise<string[]> {
    const many = new ManyPublication(request, {
      interceptors: this.parts.interceptors,
      encoder: this.encoder,
      clock: this.parts.clock,
      newBatch: () => this.newBatch(),
      store: (batch) => this.store(batch),
    });
    return this.tracked(many.run(jobs));
  }

  /** Resolves when no publication is under way. */
  async idle(): Promise<void> {
    await this.gathering?.idle();
    while (this.underWay.size > 0) await Promise.allSettled(this.underWay);
  }

  private async gather(
    gathering: Gathering,
    request: PublicationRequest,
    args: readonly unknown[],
  ): Promise<string> {
    const draft = newDraft(request, args, this.parts.clock.nowMs());
    const publication = this.encoder.encode(draft);
    const error = (await gathering.add(publication))(publication);
    if (error !== undefined) throw error;
    return draft.id;
  }

  private async publishOne(
    request: PublicationRequest,
    args: readonly unknown[],
  ): Promise<string | undefined> {
    const draft = newDraft(request, args, this.parts.clock.nowMs());
    let isStored = false;
    const store = async (): Promise<void> => {
      const batch = this.newBatch();
      batch.add(draft, this.encoder.encode(draft, batch.barrier));
      await this.store(batch);
      isStored = true;
    };
    if (this.parts.interceptors.length === 0) await store();
    else await runOnion<typeof draft.context, unknown>(this.parts.interceptors, draft.context, store);
    return isStored ? draft.context.id : undefined;
  }

  private newBatch(): Batch {
    return new Batch(this.parts.emitter.isListening ? newBarrier() : undefined);
  }

  private async store(batch: Batch): Promise<void> {
    if (batch.barrier === undefined) {
      await this.delivery.deliver(batch.publications);
      return;
    }
    this.report("job.enqueued", batch);
    const delivered = await this.delivery.deliver(batch.publications, batch.barrier);
    this.report("job.journaled", batch);
    await liftBarrier(batch.barrier, delivered, this.parts.logger);
  }

  private report(name: "job.enqueued" | "job.journaled", batch: Batch): void {
    for (const draft of batch.drafts) {
      const job = factsOf(draft, this.parts.settings.maxFailures);
      const dueMs = draft.context.due?.getTime();
      this.parts.emitter.emit(dueMs === undefined ? { name, job } : { name, job, dueMs });
    }
  }

  private tracked<T>(publication: Promise<T>): Promise<T> {
    this.underWay.add(publication);
    const done = () => this.underWay.delete(publication);
    publication.then(done, done);
    return publication;
  }
}
