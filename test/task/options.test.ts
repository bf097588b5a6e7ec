import { describe, expect, test } from "bun:test";
import { ConfigurationError } from "../../src/foundation/errors.ts";
import { isBundled } from "../../src/task/bundled.ts";
import { checkPublishOptions, optionsOf, resolveOptions } from "../../src/task/options.ts";
import { Task } from "../../src/task/task.ts";
import type { TaskClass, TaskOptions } from "../../src/task/types.ts";

abstract class Base extends Task {
  static options: TaskOptions = { name: "base-name", channel: "critical", maxFailures: 3 };
}

class Inheriting extends Base {
  executeTask(): void {}
}

class Overriding extends Base {
  static override options: TaskOptions = { name: "own-name", maxFailures: 0, timeout: 1.5 };
  executeTask(): void {}
}

function withOptions(options: unknown, className = "Sample"): TaskClass {
  const made = {
    [className]: class extends Task {
      executeTask(): void {}
    },
  }[className]!;
  return Object.assign(made, { options }) as TaskClass;
}

function refusalOf(options: unknown): string {
  try {
    optionsOf(withOptions(options));
  } catch (error) {
    if (error instanceof ConfigurationError) return error.message;
    throw error;
  }
  throw new Error("expected the options to be refused");
}

describe("the options of a task class", () => {
  test("come from its bases, but for the name", () => {
    expect(optionsOf(Inheriting)).toEqual({ name: "Inheriting", channel: "critical", maxFailures: 3 });
  });

  test("win over its bases' one by one", () => {
    expect(optionsOf(Overriding)).toEqual({
      name: "own-name",
      channel: "critical",
      maxFailures: 0,
      timeout: 1.5,
    });
  });

  test("are the channel default and the class's name where nothing is said", () => {
    expect(optionsOf(withOptions(undefined))).toEqual({ name: "Sample", channel: "default" });
  });

  test("are read again when the class gets another object", () => {
    const changing = withOptions({ channel: "one" });
    expect(optionsOf(changing).channel).toBe("one");
    changing.options = { channel: "two" };
    expect(optionsOf(changing).channel).toBe("two");
  });

  test("with an unknown key are refused with the nearest one", () => {
    expect(refusalOf({ maxFailure: 3 })).toBe(
      'Sample.options: unknown option "maxFailure" (did you mean "maxFailures"?)',
    );
    expect(refusalOf({ colour: 3 })).toContain("(valid: name, channel, maxFailures");
  });

  test("are refused when ill-typed, in a base too", () => {
    expect(refusalOf({ channel: 5 })).toContain("Sample.options.channel: ");
    expect(refusalOf({ channel: "" })).toContain("must not be empty");
    expect(refusalOf({ maxFailures: 1.5 })).toContain("expected a whole number from 0, got 1.5");
    expect(refusalOf({ maxFailures: -1 })).toContain("got -1");
    expect(refusalOf({ retryWithin: "3" })).toContain('expected seconds above 0 and up to 2147483, got "3"');
    expect(refusalOf({ timeout: 0 })).toContain("got 0");
    expect(refusalOf({ timeout: Number.NaN })).toContain("got NaN");
    expect(refusalOf("critical")).toContain('expected an object, got "critical"');
    class Child extends (withOptions({ chanel: "x" }, "Parent") as unknown as typeof Base) {
      override executeTask(): void {}
    }
    expect(() => optionsOf(Child)).toThrow(
      'Parent.options: unknown option "chanel" (did you mean "channel"?)',
    );
  });

  test("may not name it default or nothing", () => {
    expect(refusalOf({ name: "default" })).toContain('"default" cannot name a task');
    expect(refusalOf({ name: "" })).toContain('expected a text, got ""');
    expect(() => optionsOf(withOptions(undefined, ""))).toThrow("a task class without a usable name");
    expect(() => optionsOf(withOptions(undefined, "default"))).toThrow("a task class without a usable name");
  });

  test("go with callbacks that are methods", () => {
    const odd = Object.assign(withOptions({}), { retryDelay: 5 }) as unknown as TaskClass;
    expect(() => optionsOf(odd)).toThrow("Sample.retryDelay: expected a static method, got 5");
  });

  test("must name the task in a bundled program", () => {
    expect(() => resolveOptions(Inheriting, true)).toThrow("needs options.name: this program is bundled");
    expect(resolveOptions(Overriding, true).name).toBe("own-name");
  });
});

test("a program counts as bundled by where its files are", () => {
  expect(isBundled()).toBe(false);
  expect(isBundled("/app/dist/server.js", "/app/dist/server.js")).toBe(true);
  expect(isBundled("/$bunfs/root/app", "/$bunfs/root/app")).toBe(true);
  expect(isBundled("B:/~BUN/root/app.exe", "B:/~BUN/root/app.exe")).toBe(true);
  const own = "/app/node_modules/solid-jobs/src/task/bundled.ts";
  expect(isBundled(own, "/app/main.ts")).toBe(false);
  expect(isBundled(own, "/$bunfs/root/app")).toBe(true);
});

test("what withOptions takes is checked the same way, and leaves out what is undefined", () => {
  expect(checkPublishOptions({ id: "a", channel: "low", maxFailures: undefined } as never)).toEqual({
    id: "a",
    channel: "low",
  });
  expect(() => checkPublishOptions({ name: "x" } as never)).toThrow('withOptions: unknown option "name"');
  expect(() => checkPublishOptions({ chanel: "x" } as never)).toThrow('(did you mean "channel"?)');
  expect(() => checkPublishOptions({ id: "" })).toThrow('withOptions.id: expected a text, got ""');
  expect(() => checkPublishOptions({ id: "\ud800" })).toThrow("expected valid unicode");
  expect(() => checkPublishOptions({ id: "x".repeat(256) })).toThrow("may take 255 bytes, got 256");
});
