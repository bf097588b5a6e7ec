import { describe, expect, test } from "bun:test";
import { fixedClock } from "../../src/foundation/clock.ts";
import { Emitter } from "../../src/instrumentation/emitter.ts";
import type { Instrumenter, JobEvent } from "../../src/instrumentation/events.ts";
import { createLogger } from "../../src/instrumentation/logger-output.ts";

const event: JobEvent = { name: "job.started", job: { id: "1", channel: "default" }, attempt: 1 };

function recordingLogger() {
  const lines: Record<string, unknown>[] = [];
  const write = (line: string) => void lines.push(JSON.parse(line));
  return { logger: createLogger({ level: "debug", isTty: false, write }), lines };
}

describe("an emitter", () => {
  test("constructs each class once and tells each instrumenter every event, in order", () => {
    const told: string[] = [];
    let constructed = 0;
    const named = (name: string) =>
      class implements Instrumenter {
        constructor() {
          constructed += 1;
        }
        record(event: JobEvent) {
          told.push(`${name} ${event.name}`);
        }
      };
    const emitter = new Emitter([named("a"), named("b")], recordingLogger().logger);
    emitter.emit(event);
    emitter.emit({ ...event, name: "job.acknowledged" });
    expect(constructed).toBe(2);
    expect(told).toEqual(["a job.started", "b job.started", "a job.acknowledged", "b job.acknowledged"]);
    expect(emitter.isListening).toBe(true);
  });

  test("without instrumenters is not listening", () => {
    const emitter = new Emitter([], recordingLogger().logger);
    expect(emitter.isListening).toBe(false);
    emitter.emit(event);
  });

  test("logs what an instrumenter throws or rejects with, and goes on with the others", async () => {
    const { logger, lines } = recordingLogger();
    let told = 0;
    class Throws implements Instrumenter {
      record() {
        throw "plain text";
      }
    }
    class Rejects implements Instrumenter {
      async record() {
        throw new TypeError("later");
      }
    }
    class Counts implements Instrumenter {
      record() {
        told += 1;
      }
    }
    new Emitter([Throws, Rejects, Counts], logger).emit(event);
    await Promise.resolve();
    expect(told).toBe(1);
    expect(lines).toMatchObject([
      { level: "error", instrumenter: "Throws", event: "job.started", error: { message: "plain text" } },
      { level: "error", instrumenter: "Rejects", error: { name: "TypeError", message: "later" } },
    ]);
  });

  test("logs a broken instrumenter at most once a second, with the number left out", () => {
    const { logger, lines } = recordingLogger();
    const clock = fixedClock(0);
    class Broken implements Instrumenter {
      record() {
        throw new Error("broken");
      }
    }
    const emitter = new Emitter([Broken], logger, clock);
    for (let ms = 0; ms < 1000; ms += 250) {
      clock.set(ms);
      emitter.emit(event);
    }
    expect(lines).toHaveLength(1);
    clock.set(1000);
    emitter.emit(event);
    expect(lines).toHaveLength(2);
    expect(lines[1]).toMatchObject({ instrumenter: "Broken", unlogged: 3 });
  });

  test("refuses a class that cannot be constructed or records nothing", () => {
    const { logger } = recordingLogger();
    class NeedsArguments {
      constructor() {
        throw new Error("no options");
      }
      record() {}
    }
    class RecordsNothing {}
    expect(() => new Emitter([NeedsArguments], logger)).toThrow(
      "instrumenters: expected a class that is constructed without arguments, NeedsArguments threw: no options",
    );
    expect(() => new Emitter([RecordsNothing as never], logger)).toThrow(
      "instrumenters: expected a method record(event) in RecordsNothing, which has none",
    );
  });
});
