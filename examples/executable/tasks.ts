import { Task, type TaskOptions } from "solid-jobs";

/** A bundler renames classes: each task has a name that stays. */
export class CountPrimes extends Task {
  static options = { name: "count-primes", timeout: 60 } satisfies TaskOptions;

  executeTask(limit: number) {
    const isComposite = new Uint8Array(limit + 1);
    let primes = 0;
    for (let candidate = 2; candidate <= limit; candidate++) {
      if (isComposite[candidate] === 1) continue;
      primes += 1;
      for (let multiple = candidate * candidate; multiple <= limit; multiple += candidate) {
        isComposite[multiple] = 1;
      }
    }
    this.logger.info("counted primes", { limit, primes });
  }
}

/** Waits without using its thread, and ends early when the node stops. */
export class Nap extends Task {
  static options = { name: "nap", channel: "slow" } satisfies TaskOptions;

  async executeTask(milliseconds: number) {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, milliseconds);
      this.signal.addEventListener("abort", () => {
        clearTimeout(timer);
        reject(this.signal.reason);
      });
    });
    this.logger.info("slept", { milliseconds });
  }
}
