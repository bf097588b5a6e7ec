import { encodeEnvelope } from "../../../src/envelope/codec.ts";
import { StoreUnavailable } from "../../../src/foundation/errors.ts";
import type { Publication, Store } from "../../../src/store/store.ts";
import { Random } from "../random.ts";

interface SoakJob {
  readonly task: string;
  readonly weight: number;
  readonly args: (random: Random) => unknown[];
  readonly maxFailures?: number;
}

const jobs: readonly SoakJob[] = [
  { task: "Nothing", weight: 55, args: () => [] },
  { task: "Waiting", weight: 20, args: (random) => [random.int(1, 10)] },
  { task: "Computing", weight: 8, args: (random) => [random.int(1, 4)] },
  { task: "Allocating", weight: 5, args: () => [] },
  { task: "Carrying", weight: 9, args: () => ["x".repeat(4096)] },
  { task: "FailingOnce", weight: 2.9, args: () => [] },
  { task: "FailingForGood", weight: 0.1, args: () => [], maxFailures: 0 },
];

/** Publishes mixed jobs in batches, by a seed, and counts them. */
export class Feeder {
  published = 0;
  /** How many of them must end in the archive. */
  doomed = 0;
  private readonly store: Store;
  private readonly random = new Random(1);

  constructor(store: Store) {
    this.store = store;
  }

  /** @throws StoreUnavailable | StoreFull: then the count may be wrong, and the soak has failed */
  async feed(count: number): Promise<void> {
    const publications = Array.from({ length: count }, () => this.next());
    await this.store.publish(publications);
  }

  private next(): Publication {
    const job = this.random.weighted(jobs);
    this.published += 1;
    if (job.maxFailures === 0) this.doomed += 1;
    const id = idOf(this.published);
    const fields = { id, channel: "default", task: job.task, maxFailures: job.maxFailures ?? 25 };
    const argumentsJson = JSON.stringify([this.published, ...job.args(this.random)]);
    return {
      id,
      channel: "default",
      payload: encodeEnvelope({ ...fields, argumentsJson, nowMs: Date.now() }),
    };
  }
}

/** The id of the job with that number. */
export function idOf(number: number): string {
  return `soak-${number}`;
}

/** Asks again a few times where a loaded store did not answer in time; nothing may have been sent. */
export async function patiently<T>(ask: () => Promise<T>): Promise<T> {
  for (let left = 5; ; left--) {
    try {
      return await ask();
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || left === 0) throw error;
      await Bun.sleep(100);
    }
  }
}
