import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { fixedClock } from "../../src/foundation/clock.ts";
import { ConfigurationError } from "../../src/foundation/errors.ts";
import { createLogger, type LoggerOptions } from "../../src/instrumentation/logger-output.ts";

const clock = fixedClock(Date.UTC(2026, 0, 2, 3, 4, 5, 6));
const esc = "\u001b";

function recording(options: Partial<LoggerOptions> = {}) {
  const lines: string[] = [];
  const write = (line: string) => void lines.push(line);
  return { logger: createLogger({ level: "debug", isTty: false, clock, write, ...options }), lines };
}

function logged(fields: Record<string, unknown>): Record<string, unknown> {
  const { logger, lines } = recording();
  logger.info("m", fields);
  expect(lines).toHaveLength(1);
  expect(lines[0]).toMatch(/^[^\n]*\n$/);
  return JSON.parse(lines[0]!);
}

describe("a log line for machines", () => {
  test("is one JSON object: time, level, message, then the fields", () => {
    const { logger, lines } = recording();
    logger.warn("slow job", { id: "1", seconds: 2.5, channel: undefined });
    expect(lines).toEqual([
      '{"time":"2026-01-02T03:04:05.006Z","level":"warn","message":"slow job","id":"1","seconds":2.5}\n',
    ]);
  });

  test("cuts texts of more than 16,384 characters and says so", () => {
    const error = new Error("m".repeat(20_000));
    expect(logged({ body: "b".repeat(16_384) }).body).toHaveLength(16_384);
    expect(logged({ error }).error).toMatchObject({
      message: `${"m".repeat(16_384)}... [3616 more characters]`,
    });
  });

  test("keeps a field named like one of its own", () => {
    expect(logged({ time: 1, level: 2, message: 3, __proto__x: 4 })).toMatchObject({
      level: "info",
      message: "m",
      time_: 1,
      level_: 2,
      message_: 3,
    });
  });

  test("shows errors with name, message, stack, code and cause", () => {
    const cause = new TypeError("root");
    const line = logged({ error: new ConfigurationError("bad", { cause }) });
    expect(line.error).toMatchObject({
      name: "ConfigurationError",
      message: "bad",
      code: "CONFIGURATION",
      stack: expect.stringContaining("logger-output.test.ts"),
      cause: { name: "TypeError", message: "root", stack: expect.any(String) },
    });
  });

  test("shows an error whose cause is itself, and all errors of an aggregate", () => {
    const loop = new Error("loop");
    loop.cause = loop;
    expect(logged({ loop }).loop).toMatchObject({ message: "loop", cause: "[circular]" });
    const aggregate = new AggregateError([new Error("a"), new Error("b")], "both");
    expect(logged({ aggregate }).aggregate).toMatchObject({
      errors: [{ message: "a" }, { message: "b" }],
    });
  });

  test("shows in words what JSON cannot hold", () => {
    const circular: Record<string, unknown> = { a: 1 };
    circular.self = circular;
    class Point {
      x = 1;
    }
    expect(
      logged({
        big: 12345678901234567890n,
        nan: Number.NaN,
        symbol: Symbol("s"),
        fn: function named() {},
        date: new Date(0),
        never: new Date(Number.NaN),
        map: new Map([["k", 1n]]),
        set: new Set([1]),
        bytes: new Uint8Array(3),
        url: new URL("redis://h/0"),
        point: new Point(),
        circular,
        json: { toJSON: () => ({ fine: true }) },
        long: Array.from({ length: 102 }, () => 0),
      }),
    ).toMatchObject({
      big: "12345678901234567890",
      nan: "NaN",
      symbol: "Symbol(s)",
      fn: "[function named]",
      date: "1970-01-01T00:00:00.000Z",
      never: "[invalid date]",
      map: [["k", "1"]],
      set: [1],
      bytes: "[3 bytes]",
      url: "redis://h/0",
      point: { x: 1 },
      circular: { a: 1, self: "[circular]" },
      json: { fine: true },
      long: expect.arrayContaining(["[2 more]"]),
    });
  });

  test("never throws because of a field", () => {
    const hostile = {
      getter: Object.defineProperty({ fine: 1 }, "bad", {
        enumerable: true,
        get: () => {
          throw new Error("no");
        },
      }),
      toJSON: {
        toJSON: () => {
          throw new Error("not json");
        },
      },
      proxy: new Proxy(
        {},
        {
          ownKeys: () => {
            throw "text";
          },
        },
      ),
      revoked: (() => {
        const { proxy, revoke } = Proxy.revocable({}, {});
        revoke();
        return proxy;
      })(),
    };
    expect(logged(hostile)).toMatchObject({
      getter: { fine: 1, bad: "[cannot be shown: no]" },
      toJSON: "[cannot be shown: not json]",
      proxy: "[cannot be shown: text]",
      revoked: expect.stringContaining("[cannot be shown: "),
    });
    const fields = Object.defineProperty({ kept: 1 }, "bad", {
      enumerable: true,
      get: () => {
        throw new Error("no");
      },
    });
    expect(logged(fields).fields).toEqual({ kept: 1, bad: "[cannot be shown: no]" });
  });

  test("is one valid line for any fields", () => {
    const anything = fc.anything({
      withBigInt: true,
      withDate: true,
      withMap: true,
      withNullPrototype: true,
    });
    fc.assert(fc.property(fc.dictionary(fc.string(), anything), (fields) => void logged(fields)));
  });
});

describe("a log line for people", () => {
  const readable = (options: Partial<LoggerOptions> = {}) =>
    recording({ isTty: true, isColoured: false, ...options });

  test("reads time, level, message, key=value", () => {
    const { logger, lines } = readable();
    logger.info("node started", { workers: 2, store: "redis 7", list: ["a"], none: undefined });
    expect(lines[0]).toMatch(
      /^\d\d:\d\d:\d\d\.006 INFO {2}node started workers=2 store="redis 7" list=\["a"\]\n$/,
    );
  });

  test("has an error's stack and causes below it", () => {
    const { logger, lines } = readable();
    logger.error("job failed", { error: new Error("outer", { cause: new TypeError("inner") }) });
    const [first, second, ...rest] = lines[0]!.split("\n");
    expect(first).toEndWith("ERROR job failed error=Error: outer");
    expect(second).toMatch(/^ {4}at .*logger-output\.test\.ts/);
    expect(rest.join("\n")).toContain("    caused by TypeError: inner\n    at ");
  });

  test("lets no control character of a message or field reach the terminal", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (message, value) => {
        const { logger, lines } = readable();
        logger.info(message, { [value]: value, error: Object.assign(new Error(value), { stack: "" }) });
        expect(lines[0]!.slice(0, -1)).not.toMatch(/\p{Cc}/u);
      }),
    );
  });

  test("is coloured unless that is refused", () => {
    const coloured = readable({ isColoured: true });
    coloured.logger.error("m", { a: 1 });
    expect(coloured.lines[0]).toContain(`${esc}[31mERROR${esc}[0m`);
    const plain = readable();
    plain.logger.error("m", { a: 1 });
    expect(plain.lines[0]).not.toContain(esc);
  });

  test("has no colours when NO_COLOR is set", () => {
    const module = Bun.fileURLToPath(import.meta.resolve("../../src/instrumentation/logger-output.ts"));
    const script = `const { createLogger } = await import(${JSON.stringify(module)});
      createLogger({ level: "info", isTty: true }).info("hello");`;
    const outputWith = (env: Record<string, string>) => {
      const { TERM: _term, NO_COLOR: _noColor, ...rest } = process.env;
      return Bun.spawnSync([process.execPath, "-e", script], { env: { ...rest, ...env } }).stdout.toString();
    };
    expect(outputWith({})).toContain(`${esc}[32m`);
    expect(outputWith({ NO_COLOR: "" })).toContain(`${esc}[32m`);
    expect(outputWith({ NO_COLOR: "1" })).toMatch(/^\S+ INFO {2}hello\n$/);
    expect(outputWith({ TERM: "dumb" })).toMatch(/^\S+ INFO {2}hello\n$/);
  });
});

describe("a logger", () => {
  test("writes its level and those above", () => {
    for (const [level, expected] of [
      ["debug", 4],
      ["info", 3],
      ["warn", 2],
      ["error", 1],
      ["silent", 0],
    ] as const) {
      const { logger, lines } = recording({ level });
      for (const name of ["debug", "info", "warn", "error"] as const) logger.with({ a: 1 })[name]("m");
      expect(lines).toHaveLength(expected);
    }
  });

  test("made by `with` adds its fields to each line, nearer ones win", () => {
    const { logger, lines } = recording();
    logger.with({ a: 1, b: 1 }).with({ b: 2 }).info("m", { c: 3 });
    expect(JSON.parse(lines[0]!)).toMatchObject({ a: 1, b: 2, c: 3 });
  });
});
