import type { Settings } from "../../../src/config/settings.ts";
import { encodeEnvelope } from "../../../src/envelope/codec.ts";
import { PublishUnconfirmed, SolidJobsError, StoreUnavailable } from "../../../src/foundation/errors.ts";
import { storeFor } from "../../../src/store/open.ts";
import { type JobKind, kindNamed, workOf } from "../jobs/kinds.ts";
import type { Ledger } from "../ledger.ts";
import type { Random } from "../random.ts";

export interface GivenWork {
  readonly ms?: number;
  /** Default: `default`. */
  readonly channel?: string;
}

interface Made {
  readonly id: string;
  readonly channel: string;
  readonly key: string;
  readonly payload: string;
}

const againMs = 50;

/** Publishes for the harness itself, straight into the store, past what faults do to the way there. */
export class OwnPublisher {
  private readonly settings: () => Settings;
  private readonly ledger: Ledger;
  private readonly random: Random;
  private count = 0;

  /** @param settings of the store that is the present one */
  constructor(settings: () => Settings, { ledger, random }: { ledger: Ledger; random: Random }) {
    this.settings = settings;
    this.ledger = ledger;
    this.random = random;
  }

  /** Resolves to the ids when they are stored for certain; what was refused is published again under others. */
  async publish(kindName: string, count: number, given: GivenWork): Promise<string[]> {
    for (;;) {
      const publications = Array.from({ length: count }, () => this.make(kindNamed(kindName), given));
      if ((await this.attempt(publications)) === undefined) return publications.map(({ id }) => id);
      await Bun.sleep(againMs);
    }
  }

  /** One job, once. Resolves to the code of the error that refused it, or undefined when it is stored. */
  attemptOne(kindName: string): Promise<string | undefined> {
    return this.attempt([this.make(kindNamed(kindName), {})]);
  }

  private async attempt(publications: readonly Made[]): Promise<string | undefined> {
    const ids = publications.map(({ id }) => id);
    const keys = publications.map(({ key }) => key);
    const note = (what: "confirmed" | "refused" | "unconfirmed", code = "") =>
      this.ledger.publications.push({ what, ids, keys, code, at: Date.now() });
    const store = storeFor(this.settings());
    try {
      await store.publish(publications);
      note("confirmed");
      return undefined;
    } catch (error) {
      if (!(error instanceof SolidJobsError)) throw error;
      const isUnknown =
        error instanceof PublishUnconfirmed || (error instanceof StoreUnavailable && error.isSent);
      note(isUnknown ? "unconfirmed" : "refused", error.code);
      return error.code;
    } finally {
      await store.close();
    }
  }

  private make(kind: JobKind, { channel = "default", ms }: GivenWork): Made {
    this.count += 1;
    const id = `h-${this.count}`;
    const work = { ...workOf(kind, id, this.random), ...(ms === undefined ? {} : { ms }) };
    const maxFailures = kind.ending === "archived" ? 0 : 25;
    const fields = { id, channel, task: kind.task, argumentsJson: JSON.stringify([work]), maxFailures };
    return { id, channel, key: work.key, payload: encodeEnvelope({ ...fields, nowMs: Date.now() }) };
  }
}
