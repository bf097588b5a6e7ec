/** The tasks that the harness's nodes run. The kinds of jobs in `kinds.ts` are made of them. */
import type { TaskOptions } from "../../../src/index.ts";
import { Noting, type Work } from "./noting.ts";

const slowLoadMs = Number(process.env["FAULTS_SLOW_LOAD_MS"] ?? 0);
if (slowLoadMs > 0) await Bun.sleep(slowLoadMs);

function burn(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

/** Waits. */
export class Sleeping extends Noting {
  protected work({ ms }: Work): Promise<void> {
    return Bun.sleep(ms);
  }
}

/** Computes, in one piece. */
export class Burning extends Noting {
  protected work({ ms }: Work): void {
    burn(ms);
  }
}

/** Fails on its first attempts, then succeeds. */
export class Failing extends Noting {
  static retryDelay = () => 0.05;
  protected async work({ ms, failures = 0 }: Work): Promise<void> {
    await Bun.sleep(ms);
    if (this.attempt <= failures) throw new Error(`failure ${this.attempt} of ${failures}`);
  }
}

/** Fails for good. */
export class Doomed extends Noting {
  static options = { maxFailures: 0 } satisfies TaskOptions;
  protected async work({ ms }: Work): Promise<void> {
    await Bun.sleep(ms);
    throw new Error("doomed");
  }
}

/** Ends its thread with `process.exit`. */
export class Exiting extends Noting {
  protected async work({ ms }: Work): Promise<void> {
    await Bun.sleep(ms);
    if (this.mayMisbehave("process-exit")) process.exit(3);
  }
}

/** Ends its thread in one piece with its beginning, before anything is awaited. */
export class Crashing extends Noting {
  protected work({ ms }: Work): void {
    burn(ms);
    if (this.mayMisbehave("thread-crash")) process.reallyExit(7);
  }
}

/** Leaves an error behind that nobody catches, and goes on. */
export class Straying extends Noting {
  protected async work({ ms }: Work): Promise<void> {
    if (this.mayMisbehave("uncaught-error")) {
      setTimeout(() => {
        throw new Error("an uncaught error of a job");
      }, 1);
    }
    await Bun.sleep(ms + 10);
  }
}

/** Leaves a rejection behind that nobody handles, and goes on. */
export class Rejecting extends Noting {
  protected async work({ ms }: Work): Promise<void> {
    if (this.mayMisbehave("unhandled-rejection"))
      void Promise.reject(new Error("an unhandled rejection of a job"));
    await Bun.sleep(ms + 10);
  }
}

/** Never ends; its timeout does. */
export class Spinning extends Noting {
  static options = { timeout: 0.2 } satisfies TaskOptions;
  protected work({ ms }: Work): void {
    burn(ms);
    if (this.mayMisbehave("endless-loop")) while (true);
  }
}

/** Fills the heap until its process dies of it; its node is given little. */
export class Hogging extends Noting {
  protected async work({ ms }: Work): Promise<void> {
    await Bun.sleep(ms);
    if (process.env["FAULTS_MAY_HOG"] !== "1" || !this.mayMisbehave("memory-hog")) return;
    // Small pieces: a large one that there is no room for fails alone, and its job with it.
    for (let kept: unknown; ; ) kept = { kept, number: Math.random(), list: [1, 2, 3] };
  }
}

/** Takes its whole process along. */
export class Aborting extends Noting {
  protected async work({ ms }: Work): Promise<void> {
    await Bun.sleep(ms);
    if (this.mayMisbehave("process-abort")) process.abort();
  }
}

/** Takes its whole process along, each time it runs, in one of several ways. */
export class Poisonous extends Noting {
  protected async work({ key, ms }: Work): Promise<void> {
    const way = Bun.hash.crc32(key) % 3;
    if (way !== 0) await Bun.sleep(ms);
    if (way === 1) process.abort();
    process.kill(process.pid, way === 0 ? "SIGSEGV" : "SIGKILL");
    await Bun.sleep(60_000);
  }
}
