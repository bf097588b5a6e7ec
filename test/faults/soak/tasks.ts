/** The mixed jobs of the soak. They keep their ledger short: the ids that are done, and how often. */
import { appendFileSync } from "node:fs";
import { Task, type TaskOptions } from "../../../src/index.ts";

function burn(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

/** A number for each job, so that a done one takes a few bytes in the ledger. */
function done(number: number): void {
  appendFileSync(String(process.env["SOAK_LEDGER"]), `${number}\n`);
}

export class Nothing extends Task {
  executeTask(number: number) {
    done(number);
  }
}

export class Waiting extends Task {
  async executeTask(number: number, ms: number) {
    await Bun.sleep(ms);
    done(number);
  }
}

export class Computing extends Task {
  executeTask(number: number, ms: number) {
    burn(ms);
    done(number);
  }
}

/** Allocates, and leaves it to the collector. */
export class Allocating extends Task {
  async executeTask(number: number) {
    const kept = Array.from({ length: 20_000 }, (_, i) => ({ i, text: `text ${i}` }));
    await Bun.sleep(1);
    done(number + 0 * kept.length);
  }
}

export class Carrying extends Task {
  executeTask(number: number, payload: string) {
    if (payload.length !== 4096) throw new Error(`expected 4096 characters, got ${payload.length}`);
    done(number);
  }
}

export class FailingOnce extends Task {
  static retryDelay = () => 0.2;
  async executeTask(number: number) {
    if (this.attempt === 1) throw new Error("the first attempt fails");
    done(number);
  }
}

export class FailingForGood extends Task {
  static options = { maxFailures: 0 } satisfies TaskOptions;
  executeTask(number: number) {
    throw new Error(`job ${number} fails for good`);
  }
}
