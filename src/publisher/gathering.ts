import { StoreError } from "../foundation/errors.ts";
import type { Publication } from "../store/store.ts";
import { maxBatchBytes, maxBatchJobs } from "./batch.ts";
import { type Delivery, errorFor } from "./delivery.ts";

/** Tells why a job of a call is not stored, or may not be; undefined when it is. */
export type Outcome = (publication: Publication) => unknown;

const stored: Outcome = () => undefined;

/** What one call stores. */
interface Gathered {
  readonly publications: Publication[];
  bytes: number;
  readonly outcome: Promise<Outcome>;
  readonly end: (outcome: Outcome) => void;
}

/**
 * Single jobs that are published side by side, as by `Promise.all`, go to the store in one call: those of one
 * turn of the event loop, at most 500 or 1 MiB. Nothing waits for more to come.
 *
 * Each is told its own end. A call stores all or nothing, so what the store refuses is offered again one by one:
 * a job whose channel cannot take it must not fail its neighbours.
 */
export class Gathering {
  private readonly delivery: Delivery;
  private open: Gathered | undefined;
  private readonly underWay = new Set<Gathered>();

  constructor(delivery: Delivery) {
    this.delivery = delivery;
  }

  /** Takes a job along. @returns how the call ended; it is not to be asked before that. Rejects never */
  add(publication: Publication & { readonly bytes: number }): Promise<Outcome> {
    const gathered = this.withRoomFor(publication.bytes);
    gathered.publications.push(publication);
    gathered.bytes += publication.bytes;
    return gathered.outcome;
  }

  /** Resolves when no call is under way. */
  async idle(): Promise<void> {
    while (this.underWay.size > 0) await Promise.all([...this.underWay].map(({ outcome }) => outcome));
  }

  private withRoomFor(bytes: number): Gathered {
    const { open } = this;
    if (open !== undefined) {
      if (open.publications.length < maxBatchJobs && open.bytes + bytes <= maxBatchBytes) return open;
      void this.send(open);
    }
    const { promise: outcome, resolve: end } = Promise.withResolvers<Outcome>();
    const gathered: Gathered = { publications: [], bytes: 0, outcome, end };
    this.open = gathered;
    this.underWay.add(gathered);
    queueMicrotask(() => {
      if (this.open === gathered) void this.send(gathered);
    });
    return gathered;
  }

  private async send(gathered: Gathered): Promise<void> {
    const { publications } = gathered;
    this.open = undefined;
    let outcome = stored;
    try {
      await this.delivery.attempt(publications);
    } catch (error) {
      outcome =
        publications.length > 1 && error instanceof StoreError
          ? await this.outcomeOneByOne(publications)
          : (publication) => errorFor([publication], error);
    }
    this.underWay.delete(gathered);
    gathered.end(outcome);
  }

  private async outcomeOneByOne(publications: readonly Publication[]): Promise<Outcome> {
    const errors = new Map<Publication, unknown>();
    for (const publication of publications) {
      try {
        await this.delivery.deliver([publication]);
      } catch (error) {
        errors.set(publication, error);
      }
    }
    return (publication) => errors.get(publication);
  }
}
