/** Tasks that behave as jobs should not, for the tests of a node's faults. Each writes into the ledger. */
import { appendFileSync, existsSync } from "node:fs";
import { threadId } from "node:worker_threads";
import { type Envelope, Task, type TaskOptions } from "../../src/index.ts";

abstract class Noting extends Task {
  protected note(event: string, key: unknown = ""): void {
    const at = Date.now();
    const line = { event, key: String(key), pid: process.pid, thread: threadId, at, attempt: this.attempt };
    appendFileSync(process.env["LEDGER"] as string, `${JSON.stringify(line)}\n`);
  }
}

const retrySoon = () => 0.05;

async function fileExists(path: string): Promise<void> {
  while (!existsSync(path)) await Bun.sleep(10);
}

function burn(ms: number): void {
  const endsAt = performance.now() + ms;
  while (performance.now() < endsAt);
}

export class Quick extends Noting {
  executeTask(key: unknown = "") {
    this.note("done", key);
  }
}

/** Fails on its first attempts. */
export class Flaky extends Noting {
  static retryDelay = retrySoon;
  async executeTask(key: unknown, failures: number) {
    if (this.attempt <= failures) throw new Error(`failure ${this.attempt}`);
    this.note("done", key);
  }
}

export class Slow extends Noting {
  async executeTask(key: unknown, ms: number) {
    this.note("begun", key);
    await Bun.sleep(ms);
    this.note("done", key);
  }
}

/** Runs until the file exists, whatever its signal says. */
export class Hold extends Noting {
  async executeTask(key: unknown, gate: string) {
    this.note("begun", key);
    await fileExists(gate);
    this.note("done", key);
  }
}

/** Fails with its signal's reason. */
export class Heeding extends Noting {
  async executeTask(key: unknown) {
    this.note("begun", key);
    await new Promise((_, reject) => {
      this.signal.addEventListener("abort", () => reject(this.signal.reason), { once: true });
    });
  }
}

/** Saves its work on its signal and succeeds. */
export class Saving extends Noting {
  async executeTask(key: unknown) {
    this.note("begun", key);
    await new Promise<void>((resolve) => {
      this.signal.addEventListener("abort", () => resolve(), { once: true });
    });
    this.note("done", key);
  }
}

/** Publishes another job while it is held. */
export class Publishing extends Noting {
  async executeTask(key: unknown, gate: string) {
    this.note("begun", key);
    await fileExists(gate);
    await Quick.enqueue(`child of ${key}`);
    this.note("done", key);
  }
}

/** Spins unless the file exists. */
export class Spinning extends Noting {
  executeTask(key: unknown, gate = "") {
    this.note("begun", key);
    if (gate !== "" && existsSync(gate)) return this.note("done", key);
    while (true);
  }
}

export class SpinningWithTimeout extends Noting {
  static options = { timeout: 0.2 } satisfies TaskOptions;
  executeTask(key: unknown, gate: string) {
    this.note("begun", key);
    if (existsSync(gate)) return this.note("done", key);
    while (true);
  }
}

/** Sits in a native call, where no thread can be ended. */
export class Native extends Noting {
  executeTask(key: unknown, ms: number) {
    this.note("begun", key);
    Bun.sleepSync(ms);
    this.note("done", key);
  }
}

/** Ends its thread, before or after an await, until the file exists. */
export class Exiting extends Noting {
  async executeTask(key: unknown, gate: string, isLate = false) {
    this.note("begun", key);
    if (existsSync(gate)) return this.note("done", key);
    if (isLate) await Bun.sleep(20);
    process.exit(3);
  }
}

/** Leaves a rejection and an error behind that nobody catches, and succeeds after both. */
export class Straying extends Noting {
  async executeTask(key: unknown) {
    this.note("begun", key);
    void Promise.reject(new Error("a stray rejection"));
    setTimeout(() => {
      throw new Error("an uncaught error");
    }, 1);
    await Bun.sleep(50);
    this.note("done", key);
  }
}

export class Burning extends Noting {
  executeTask(key: unknown, ms: number) {
    burn(ms);
    this.note("done", key);
  }
}

export class BurningLate extends Noting {
  async executeTask(key: unknown, ms: number) {
    await Promise.resolve();
    burn(ms);
    this.note("done", key);
  }
}

export class OnOther extends Quick {
  static options = { channel: "other" } satisfies TaskOptions;
}

/** Takes its whole process along, before or after an await, until the file exists. */
export class Aborting extends Noting {
  static afterFinalFailure(envelope: Envelope, { name }: Error) {
    const line = { event: "final", key: String(envelope.arguments[0]), name };
    appendFileSync(process.env["LEDGER"] as string, `${JSON.stringify(line)}\n`);
  }
  async executeTask(key: unknown, gate: string, isLate = false) {
    this.note("begun", key);
    if (existsSync(gate)) return this.note("done", key);
    if (isLate) await Bun.sleep(20);
    process.kill(process.pid, "SIGSEGV");
    await Bun.sleep(60_000);
  }
}
