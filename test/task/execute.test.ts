import { afterEach, describe, expect, test } from "bun:test";
import { configure, resetConfiguration } from "../../src/config/process.ts";
import type { Envelope } from "../../src/envelope/envelope.ts";
import { JobTimeout } from "../../src/foundation/errors.ts";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import { performTask } from "../../src/task/perform.ts";
import { Task } from "../../src/task/task.ts";

afterEach(resetConfiguration);

const envelope: Envelope = {
  id: "job-1",
  task: "Adding",
  arguments: [2, 3],
  channel: "default",
  maxFailures: 25,
  createdMs: 0,
  queuedMs: 0,
  failureCount: 0,
};

const execution = { envelope, attempt: 3, signal: new AbortController().signal, logger: silentLogger };

class Adding extends Task {
  executeTask(a: number, b: number): number {
    return a + b;
  }
}

class Remembering extends Task {
  readonly idAtBirth = this.taskId;
  readonly inner = new Adding();
  runs = 0;
  executeTask(): unknown[] {
    this.runs++;
    return [this.idAtBirth, this.taskId, this.attempt, this.envelope, this.signal, this.logger, this.runs];
  }
}

describe("performing a task", () => {
  test("returns at once what a synchronous task returns", () => {
    expect(performTask(Adding, execution, [])).toBe(5);
  });

  test("gives it its execution before its field initialisers run, and a fresh instance each time", () => {
    const expected = ["job-1", "job-1", 3, envelope, execution.signal, silentLogger, 1];
    expect(performTask(Remembering, execution, [])).toEqual(expected);
    expect(performTask(Remembering, execution, [])).toEqual(expected);
  });

  test("leaves a task that another one builds without an execution", () => {
    class Outer extends Task {
      readonly inner = new Adding();
      executeTask(): string {
        return this.inner.taskId;
      }
    }
    expect(() => performTask(Outer, execution, [])).toThrow("run it with Adding.execute(...)");
  });

  test("leaves nothing behind when a constructor throws", () => {
    class Broken extends Task {
      readonly field = (() => {
        throw new Error("no field");
      })();
      executeTask(): void {}
    }
    expect(() => performTask(Broken, execution, [])).toThrow("no field");
    expect(() => new Adding().taskId).toThrow("this.taskId is there only while the task is executed");
  });

  test("runs inside the interceptors, the first one outermost", async () => {
    const seen: string[] = [];
    const result = await performTask(Adding, execution, [
      async ({ attempt }, next) => {
        seen.push(`outer ${attempt}`);
        return `<${await next()}>`;
      },
      (_context, next) => {
        seen.push("inner");
        return next();
      },
    ]);
    expect(result).toBe("<5>");
    expect(seen).toEqual(["outer 3", "inner"]);
  });
});

describe("execute", () => {
  test("resolves to what the task returns, its arguments carried by JSON", async () => {
    class Echo extends Task {
      async executeTask(value: { a?: number; b?: number }): Promise<unknown> {
        return Object.keys(value);
      }
    }
    expect(await Adding.execute(2, 3)).toBe(5);
    expect(await Echo.execute({ a: undefined, b: 1 } as { b: number })).toEqual(["b"]);
  });

  test("rejects with what the task throws", async () => {
    class Failing extends Task {
      executeTask(): void {
        throw new RangeError("no");
      }
    }
    await expect(Failing.execute()).rejects.toThrow(RangeError);
  });

  test("refuses arguments that JSON does not carry", async () => {
    await expect(Adding.execute(2, Number.NaN)).rejects.toThrow("arguments[1]: NaN");
  });

  test("goes through the configured interceptors", async () => {
    configure({ executeInterceptors: async (context, next) => [context.envelope.task, await next()] });
    expect((await Adding.execute(2, 3)) as unknown).toEqual(["Adding", 5]);
  });

  test("aborts the signal at the task's timeout, with the reason", async () => {
    class Slow extends Task {
      static options = { timeout: 0.01 };
      executeTask(): Promise<unknown> {
        return new Promise((resolve) => {
          this.signal.addEventListener("abort", () => resolve(this.signal.reason));
        });
      }
    }
    const reason = await Slow.execute();
    expect(reason).toBeInstanceOf(JobTimeout);
    expect((reason as Error).message).toContain("still runs after its timeout of 0.01 s");
  });
});
