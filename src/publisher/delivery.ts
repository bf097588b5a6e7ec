import { Deadlines } from "../foundation/deadlines.ts";
import { PublishUnconfirmed, StoreUnavailable } from "../foundation/errors.ts";
import { within } from "../foundation/time.ts";
import type { Publication, PublishStore } from "../store/store.ts";

/** Gives the store that publications go to, opened. */
export type StoreSource = () => PublishStore | Promise<PublishStore>;

const late: unique symbol = Symbol("late");

/**
 * Milliseconds a store gets beyond the deadline to say itself how it ended: it keeps the same deadline and
 * knows whether anything was sent.
 */
const graceMs = 500;

/** Hands batches to the store, each under one deadline for connecting and storing together. */
export class Delivery {
  private readonly source: StoreSource;
  private readonly deadlineMs: number;
  private readonly deadlines = new Deadlines();

  constructor(source: StoreSource, deadlineSeconds: number) {
    this.source = source;
    this.deadlineMs = deadlineSeconds * 1000;
  }

  /**
   * Stores all of a batch or none; nothing is ever sent again.
   *
   * @returns the store and what is left of the deadline, for what follows
   * @throws StoreUnavailable when certainly nothing was stored
   * @throws PublishUnconfirmed when the reply was lost or did not come in time
   * @throws StoreFull | StoreError
   */
  async deliver(batch: readonly Publication[], barrier?: string): Promise<Delivered> {
    try {
      return await this.attempt(batch, barrier);
    } catch (error) {
      throw errorFor(batch, error);
    }
  }

  /** As `deliver`, but throws what `errorFor` makes the error of a job, or of all, of. */
  async attempt(batch: readonly Publication[], barrier?: string): Promise<Delivered> {
    const endsAt = performance.now() + this.deadlineMs;
    const opened = this.source();
    const store = opened instanceof Promise ? await this.opened(opened) : opened;
    await this.inTime(endsAt + graceMs, store.publish(batch, barrier));
    return { store, endsAt };
  }

  private inTime(endsAt: number, stored: Promise<void>): Promise<void> {
    return new Promise((resolve, reject) => {
      const end = this.deadlines.at(endsAt, () => {
        reject(new Unanswered(`no answer within ${this.deadlineMs / 1000} s (setting publishDeadline)`));
      });
      stored.then(
        () => {
          end();
          resolve();
        },
        (error) => {
          end();
          const isUnknown = error instanceof StoreUnavailable && error.isSent;
          reject(isUnknown ? new Unanswered(error.message, error) : error);
        },
      );
    });
  }

  private async opened(opening: Promise<PublishStore>): Promise<PublishStore> {
    const store = await within(this.deadlineMs, opening.catch(refuseUnsent), late);
    if (store !== late) return store;
    throw new StoreUnavailable(
      `the store could not be reached within ${this.deadlineMs / 1000} s (setting publishDeadline). ` +
        "Nothing was published: check that it runs and that the url is right, then publish again.",
      { isSent: false },
    );
  }
}

/** Whatever opening the store sent, it was no publication. */
function refuseUnsent(error: unknown): never {
  if (!(error instanceof StoreUnavailable)) throw error;
  throw new StoreUnavailable(`${error.message.replace(/\.?$/, ".")} Nothing was published.`, {
    isSent: false,
    cause: error,
  });
}

export interface Delivered {
  readonly store: PublishStore;
  /** On the scale of `performance.now()`. */
  readonly endsAt: number;
}

/** Whether a call stored anything is unknown. */
class Unanswered extends Error {
  constructor(reason: string, cause?: unknown) {
    super(reason, cause === undefined ? undefined : { cause });
  }
}

/** What a failed attempt means to those who published `batch`, all that it was for or a part of it. */
export function errorFor(batch: readonly Publication[], error: unknown): unknown {
  if (!(error instanceof Unanswered)) return error;
  const unconfirmedIds = batch.map(({ id }) => id);
  const which = batch.length === 1 ? `job ${unconfirmedIds[0]} is` : `${batch.length} jobs are`;
  return new PublishUnconfirmed(
    `it is unknown whether ${which} stored: ${error.message}. Nothing is sent again by itself; look the ids up ` +
      "(Catalog.locate) before publishing them again.",
    { confirmedIds: [], unconfirmedIds },
    error.cause === undefined ? undefined : { cause: error.cause },
  );
}
