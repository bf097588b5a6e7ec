import { shown } from "../config/reading.ts";
import type { Clock } from "../foundation/clock.ts";
import { ArgumentsError, PublishUnconfirmed, toError } from "../foundation/errors.ts";
import type { PublishInterceptor } from "../interceptor/contexts.ts";
import { runOnion } from "../interceptor/onion.ts";
import type { Publication } from "../store/store.ts";
import type { Batch, Intercepted } from "./batch.ts";
import { type Draft, type Encoder, newDraft, type PublicationRequest } from "./draft.ts";

/** Lists of arguments, one for each job. */
export type ManyJobs = Iterable<readonly unknown[]> | AsyncIterable<readonly unknown[]>;

export interface ManyParts {
  readonly interceptors: readonly PublishInterceptor[];
  readonly encoder: Encoder;
  readonly clock: Clock;
  newBatch(): Batch;
  store(batch: Batch): Promise<void>;
}

type Encoded = Publication & { readonly bytes: number };

/** One call that publishes many jobs. While one batch is under way to the store the next one is filled. */
export class ManyPublication {
  private readonly request: PublicationRequest;
  private readonly parts: ManyParts;
  private readonly confirmedIds: string[] = [];
  private batch: Batch;
  private underWay: Promise<void> = Promise.resolve();
  private index = -1;

  constructor(request: PublicationRequest, parts: ManyParts) {
    this.request = request;
    this.parts = parts;
    this.batch = parts.newBatch();
  }

  async run(jobs: ManyJobs): Promise<string[]> {
    try {
      await this.pull(jobs);
      await this.sendBatch();
      await this.underWay;
      return this.confirmedIds;
    } catch (error) {
      await this.batch.fail(error);
      throw this.brokenOff(await this.firstError(error));
    }
  }

  /** What ended the call while a batch was under way must not hide how that one ended. */
  private async firstError(error: unknown): Promise<unknown> {
    try {
      await this.underWay;
      return error;
    } catch (earlier) {
      return earlier;
    }
  }

  /** Leaving the loops by an error ends the iteration, so that a generator's `finally` runs. */
  private async pull(jobs: ManyJobs): Promise<void> {
    if (isIterable(jobs)) {
      for (const args of jobs) {
        const full = this.add(args);
        if (full !== undefined) await full;
      }
      return;
    }
    if (!isAsyncIterable(jobs)) {
      const problem = `jobs: expected an array, an iterable or an async iterable of lists of arguments, got ${shown(jobs)}`;
      throw new ArgumentsError(problem, "jobs");
    }
    for await (const args of jobs) await this.add(args);
  }

  /** Without interceptors a promise is only made where a batch is full. */
  private add(args: readonly unknown[]): Promise<void> | undefined {
    this.index++;
    if (!Array.isArray(args)) {
      const path = `jobs[${this.index}]`;
      throw new ArgumentsError(
        `${path}: expected a list of arguments such as [42], got ${shown(args)}`,
        path,
      );
    }
    const draft = newDraft(this.request, args, this.parts.clock.nowMs());
    if (this.parts.interceptors.length > 0) return this.intercept(draft);
    const publication = this.encode(draft);
    if (!this.batch.hasRoomFor(publication.bytes)) return this.addToNext(draft, publication);
    this.batch.add(draft, publication);
    return undefined;
  }

  /**
   * Runs the interceptors until they reach the store or end without it. Those that reached it go on when
   * the batch is stored.
   */
  private async intercept(draft: Draft): Promise<void> {
    const encoded = Promise.withResolvers<Encoded>();
    const stored = Promise.withResolvers<void>();
    const onion = runOnion<typeof draft.context, unknown>(
      this.parts.interceptors,
      draft.context,
      async () => {
        encoded.resolve(this.encode(draft));
        await stored.promise;
      },
    );
    const publication = await Promise.race([encoded.promise, onion.then(() => undefined)]);
    if (publication === undefined) return;
    const intercepted: Intercepted = { stored, onion };
    if (this.batch.hasRoomFor(publication.bytes)) this.batch.add(draft, publication, intercepted);
    else await this.addToNext(draft, publication, intercepted);
  }

  private async addToNext(draft: Draft, publication: Encoded, intercepted?: Intercepted): Promise<void> {
    try {
      await this.sendBatch();
    } catch (error) {
      intercepted?.stored.reject(error);
      await intercepted?.onion.catch(() => "the error of the batch is the one that counts");
      throw error;
    }
    // the text names the barrier of its batch
    const isBarred = this.batch.barrier !== undefined;
    this.batch.add(draft, isBarred ? this.encode(draft) : publication, intercepted);
  }

  private encode(draft: Draft): Encoded {
    return this.parts.encoder.encode(draft, this.batch.barrier, this.index);
  }

  /** Waits for the batch before, so that at most two are held, and one is sent, at a time. */
  private async sendBatch(): Promise<void> {
    await this.underWay;
    const full = this.batch;
    if (full.publications.length === 0) return;
    this.batch = this.parts.newBatch();
    this.underWay = this.storeBatch(full);
    this.underWay.catch(() => "seen by whoever awaits it next, which everything does that follows");
  }

  private async storeBatch(full: Batch): Promise<void> {
    try {
      await this.parts.store(full);
    } catch (error) {
      await full.fail(error);
      throw error;
    }
    for (const { id } of full.publications) this.confirmedIds.push(id);
    await full.succeed();
  }

  /** Once something is stored, the caller must learn what, whatever the reason for the end. */
  private brokenOff(error: unknown): unknown {
    const unconfirmedIds = error instanceof PublishUnconfirmed ? error.unconfirmedIds : [];
    if (this.confirmedIds.length === 0 && unconfirmedIds.length === 0) return error;
    return new PublishUnconfirmed(
      `the publication broke off: ${this.confirmedIds.length} jobs are stored (confirmedIds), of ` +
        `${unconfirmedIds.length} it is unknown (unconfirmedIds), those after them were not sent. ` +
        `The reason: ${toError(error).message}`,
      { confirmedIds: this.confirmedIds, unconfirmedIds },
      { cause: error },
    );
  }
}

function isIterable(jobs: ManyJobs): jobs is Iterable<readonly unknown[]> {
  return typeof jobs === "object" && jobs !== null && Symbol.iterator in jobs;
}

function isAsyncIterable(jobs: ManyJobs): jobs is AsyncIterable<readonly unknown[]> {
  return typeof jobs === "object" && jobs !== null && Symbol.asyncIterator in jobs;
}
