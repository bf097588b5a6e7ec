import { type Envelope, Task, type TaskOptions } from "solid-jobs";

class Refused extends Error {}

/** Fails twice, then succeeds. */
export class FetchPrices extends Task {
  static options = { maxFailures: 5 } satisfies TaskOptions;

  async executeTask(shop: string) {
    if (this.attempt <= 2) throw new Error(`${shop} does not answer`);
    console.log(`prices of ${shop} fetched at attempt ${this.attempt}`);
  }

  /** Seconds; the default is a growing delay with chance in it, 15 s at first. */
  static retryDelay(failureCount: number) {
    return 0.1 * failureCount;
  }
}

/** Fails for good: the second failure is one more than `maxFailures`, so the job is archived. */
export class SendInvoice extends Task {
  static options = { maxFailures: 1 } satisfies TaskOptions;

  async executeTask(invoice: number) {
    throw new Error(`the mail server refused invoice ${invoice}`);
  }

  static retryDelay() {
    return 0.1;
  }

  static afterFinalFailure(envelope: Envelope, error: Error) {
    console.log(`gave up on invoice ${envelope.arguments[0]}: ${error.message}`);
  }
}

/** Decides by the error: one that no retry can mend is archived at its first failure. */
export class ChargeCard extends Task {
  async executeTask(card: string) {
    throw new Refused(`card ${card} is expired`);
  }

  static retryDelay(_failureCount: number, error: Error) {
    return error instanceof Refused ? ("archive" as const) : undefined;
  }

  static afterFinalFailure(_envelope: Envelope, error: Error) {
    console.log(`not charged: ${error.message}`);
  }
}
