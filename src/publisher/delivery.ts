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
    const endsAt = performance.now() + this.deadlineMs;
    const opened = this.source();
    const store = opened instanceof Promise ? await this.opened(opened) : opened;
    try {
      const leftMs = Math.max(1, endsAt - performance.now()) + graceMs;
      const outcome = await within(leftMs, store.publish(batch, barrier), late);
      if (outcome !== late) return { store, endsAt };
    } catch (error) {
      if (error instanceof StoreUnavailable && error.isSent) throw unconfirmed(batch, error.message, error);
      throw error;
    }
    throw unconfirmed(batch, `no answer within ${this.deadlineMs / 1000} s (setting publishDeadline)`);
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

function unconfirmed(batch: readonly Publication[], reason: string, cause?: unknown): PublishUnconfirmed {
  const unconfirmedIds = batch.map(({ id }) => id);
  const which = batch.length === 1 ? `job ${unconfirmedIds[0]} is` : `${batch.length} jobs are`;
  return new PublishUnconfirmed(
    `it is unknown whether ${which} stored: ${reason}. Nothing is sent again by itself; look the ids up ` +
      "(Catalog.locate) before publishing them again.",
    { confirmedIds: [], unconfirmedIds },
    cause === undefined ? undefined : { cause },
  );
}
