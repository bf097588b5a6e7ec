import { afterEach, describe, expect, test } from "bun:test";
import { configure, resetConfiguration } from "../../src/config/process.ts";
import { ArgumentsError, ConfigurationError } from "../../src/foundation/errors.ts";
import { lab } from "../../src/lab/lab.ts";
import { overridePublisher } from "../../src/publisher/process-publisher.ts";
import { Task } from "../../src/task/task.ts";

afterEach(() => {
  lab.testing("disable");
  overridePublisher(undefined);
  resetConfiguration();
});

class Greeting extends Task {
  static options = { channel: "mail" };
  executeTask(name: string): string {
    if (name === "nobody") throw new RangeError("nobody to greet");
    return `hello ${name}`;
  }
}

class Other extends Task {
  executeTask(): void {}
}

describe('lab.testing("capture")', () => {
  test("keeps jobs for the test to look at, each class its own", async () => {
    await lab.testing("capture", async () => {
      const id = await Greeting.enqueue("Ada");
      await Other.enqueue();
      const [job, ...rest] = Greeting.captured();
      expect(rest).toEqual([]);
      expect(job).toMatchObject({ id: id!, arguments: ["Ada"], channel: "mail" });
      expect(job!.due).toBeUndefined();
      expect(job!.envelope).toMatchObject({ id: id!, task: "Greeting", maxFailures: 25 });
      Greeting.clearCaptured();
      expect(Greeting.captured()).toEqual([]);
      expect(Other.captured()).toHaveLength(1);
    });
  });

  test("keeps what every way of publishing publishes", async () => {
    await lab.testing("capture", async () => {
      const at = new Date("2030-01-01T00:00:00Z");
      const before = Date.now();
      await Greeting.enqueueMany([["a"], ["b"]]);
      await Greeting.enqueueAfter(60, "c");
      await Greeting.scheduleAt(at, "d");
      await Greeting.scheduleAt(at.getTime() / 1000, "e");
      await Greeting.withOptions({ channel: "low" }).withOptions({ id: "mine" }).enqueue("f");
      const jobs = Greeting.captured();
      expect(jobs.map((job) => job.arguments[0])).toEqual(["a", "b", "c", "d", "e", "f"]);
      expect(jobs[2]!.due!.getTime()).toBeGreaterThanOrEqual(before + 60_000);
      expect(jobs[3]!.due).toEqual(at);
      expect(jobs[4]!.due).toEqual(at);
      expect(jobs[5]).toMatchObject({ id: "mine", channel: "low" });
    });
  });

  test("checks what is published as the real store's publisher does", async () => {
    await lab.testing("capture", async () => {
      await expect(Greeting.enqueue(5n as never)).rejects.toThrow(ArgumentsError);
      await expect(Greeting.scheduleAt(1e12, "x")).rejects.toThrow("must be milliseconds");
      await expect(Greeting.withOptions({ id: "one" }).enqueueMany([["a"]])).rejects.toThrow("for one job");
      expect(() => Greeting.withOptions({ chanel: "x" } as never)).toThrow('did you mean "channel"?');
      class Odd extends Task {
        static options = { chanel: "x", name: "odd" };
        executeTask(): void {}
      }
      await expect(Odd.enqueue()).rejects.toThrow('unknown option "chanel" (did you mean "channel"?)');
      abstract class Base extends Task {}
      await expect((Base as never as typeof Other).enqueue()).rejects.toThrow("Base cannot be published");
      expect(Greeting.captured()).toEqual([]);
    });
  });

  test("runs the publish interceptors", async () => {
    configure({
      publishInterceptors: (context, next) => (context.arguments[0] === "spam" ? undefined : next()),
    });
    await lab.testing("capture", async () => {
      expect(await Greeting.enqueue("spam")).toBeUndefined();
      expect(await Greeting.enqueue("Ada")).toBeString();
      expect(Greeting.captured()).toHaveLength(1);
    });
  });

  test("executeNext takes the oldest job out and runs it with its own envelope", async () => {
    const seen: string[] = [];
    configure({
      executeInterceptors: (context, next) => {
        seen.push(context.envelope.id);
        return next();
      },
    });
    await lab.testing("capture", async () => {
      const id = await Greeting.enqueue("Ada");
      await Greeting.enqueueAfter(60, "Bob");
      expect(await Greeting.executeNext()).toBe("hello Ada");
      expect(seen).toEqual([id!]);
      expect(await Greeting.executeNext()).toBe("hello Bob");
      await expect(Greeting.executeNext()).rejects.toThrow("expected a captured job, got none");
    });
  });

  test("executeNext rejects with what the task throws", async () => {
    await lab.testing("capture", async () => {
      await Greeting.enqueue("nobody");
      await expect(Greeting.executeNext()).rejects.toThrow(RangeError);
      expect(Greeting.captured()).toEqual([]);
    });
  });

  test("holds everywhere without a function, begins empty, and ends with disable", async () => {
    lab.testing("capture");
    await Greeting.enqueue("Ada");
    expect(Greeting.captured()).toHaveLength(1);
    lab.testing("capture");
    expect(Greeting.captured()).toEqual([]);
    lab.testing("disable");
    expect(() => Greeting.captured()).toThrow('captured() needs a test mode: call lab.testing("capture")');
  });

  test("with a function is bound to its async context, so that concurrent tests do not mix", async () => {
    const gate = Promise.withResolvers<void>();
    const count = (names: string[], wait: Promise<void>) =>
      lab.testing("capture", async () => {
        await wait;
        for (const name of names) await Greeting.enqueue(name);
        await new Promise((resolve) => setImmediate(resolve));
        return Greeting.captured().map((job) => job.arguments[0]);
      });
    const one = count(["a", "b"], gate.promise);
    const other = count(["c"], Promise.resolve());
    gate.resolve();
    expect(await Promise.all([one, other])).toEqual([["a", "b"], ["c"]]);
    expect(() => Greeting.captured()).toThrow(ConfigurationError);
  });
});

class Chain extends Task {
  static ran: number[] = [];
  async executeTask(n: number): Promise<void> {
    Chain.ran.push(n);
    if (n < 3) await Chain.enqueue(n + 1);
  }
}

class Daily extends Task {
  static ran: string[] = [];
  async executeTask(day: string): Promise<void> {
    Daily.ran.push(day);
    const next = new Date(Date.parse(day) + 86_400_000);
    await Daily.scheduleAt(next, next.toISOString());
  }
}

describe('lab.testing("execute")', () => {
  test("runs each job as it is published, the jobs it publishes too", async () => {
    Chain.ran = [];
    await lab.testing("execute", () => Chain.enqueue(1));
    expect(Chain.ran).toEqual([1, 2, 3]);
  });

  test("lets the publisher see what the task throws", async () => {
    await lab.testing("execute", async () => {
      await expect(Greeting.enqueue("nobody")).rejects.toThrow(RangeError);
      await expect(Greeting.enqueueMany([["Ada"], ["nobody"]])).rejects.toThrow(RangeError);
    });
  });

  test("keeps planned jobs, and executePlanned runs those that are due by a time, in order", async () => {
    Daily.ran = [];
    await lab.testing("execute", async () => {
      await Daily.scheduleAt(new Date("2030-01-02"), "2030-01-02");
      await Greeting.scheduleAt(new Date("2030-01-01"), "Ada");
      expect(Daily.ran).toEqual([]);
      expect(await lab.executePlanned(new Date("2030-01-04T12:00:00Z"))).toBe(4);
      expect(Daily.ran.map((day) => day.slice(0, 10))).toEqual(["2030-01-02", "2030-01-03", "2030-01-04"]);
      expect(Greeting.captured()).toEqual([]);
      expect(Daily.captured().map((job) => job.due)).toEqual([new Date("2030-01-05")]);
    });
  });
});

describe("outside of a test mode", () => {
  test("the helpers say what to call", async () => {
    expect(() => Greeting.clearCaptured()).toThrow('lab.testing("capture")');
    await expect(Greeting.executeNext()).rejects.toThrow('lab.testing("capture")');
    await expect(lab.executePlanned(new Date())).rejects.toThrow('lab.testing("capture")');
    expect(() => lab.testing("fake" as never)).toThrow(
      'expected "capture", "execute" or "disable", got "fake"',
    );
  });

  test("disable inside of a mode publishes to the real store again", async () => {
    configure({ url: "redis://127.0.0.1:1", publishDeadline: 0.1 });
    await lab.testing("capture", async () => {
      await expect(lab.testing("disable", () => Greeting.enqueue("Ada"))).rejects.toMatchObject({
        code: "STORE_UNAVAILABLE",
        isSent: false,
      });
      expect(Greeting.captured()).toEqual([]);
    });
  });
});
