import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { argumentsJson } from "../../src/envelope/arguments.ts";
import { ArgumentsError } from "../../src/foundation/errors.ts";

function refusalOf(args: readonly unknown[], onComplex?: (problem: string) => void): ArgumentsError {
  try {
    argumentsJson(args, onComplex);
  } catch (error) {
    if (error instanceof ArgumentsError) return error;
    throw error;
  }
  throw new Error("expected the arguments to be refused");
}

function nested(levels: number): unknown {
  let value: unknown = [];
  for (let level = 1; level < levels; level++) value = [value];
  return value;
}

class Money {
  readonly cents = 5;
}

describe("arguments that JSON carries", () => {
  test("are stored as JSON and come back equal, whatever they hold", () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue({ noNegativeZero: true } as never)), (args) => {
        const json = argumentsJson(args);
        expect(json).toBe(JSON.stringify(args));
      }),
    );
  });

  test("keep __proto__ keys as data", () => {
    const given = JSON.parse('{"__proto__":{"admin":true},"constructor":1}');
    const carried = JSON.parse(argumentsJson([given]))[0];
    expect(Object.keys(carried)).toEqual(["__proto__", "constructor"]);
    expect(carried.admin).toBeUndefined();
  });

  test("keep lone surrogates, as escapes", () => {
    const json = argumentsJson(["a\ud800b"]);
    expect(json).toBe('["a\\ud800b"]');
    expect(JSON.parse(json)).toEqual(["a\ud800b"]);
  });

  test("may have undefined properties, which are omitted", () => {
    expect(argumentsJson([{ a: undefined, b: 1 }])).toBe('[{"b":1}]');
  });

  test("lose trailing undefined ones, and only those", () => {
    expect(argumentsJson([1, undefined, undefined])).toBe("[1]");
    expect(argumentsJson([undefined])).toBe("[]");
    expect(refusalOf([undefined, 1]).message).toBe(
      "arguments[0]: undefined is not in JSON; pass null. The job was not published.",
    );
  });

  test("may be objects without a prototype, and the same object twice", () => {
    const bare = Object.assign(Object.create(null), { x: 1 });
    expect(argumentsJson([bare, bare])).toBe('[{"x":1},{"x":1}]');
  });

  test("may be nested 898 levels deep, but not 899", () => {
    expect(argumentsJson([nested(898)])).toHaveLength(898 * 2 + 2);
    expect(refusalOf([nested(899)]).message).toContain("nested deeper than 898 levels");
  });
});

describe("arguments that JSON does not carry unchanged", () => {
  const cases: [string, unknown, string][] = [
    ["a Date", new Date(0), "date.toISOString()"],
    ["an invalid Date", new Date(Number.NaN), "an invalid Date"],
    ["a bigint", 1n, "value.toString()"],
    ["NaN", Number.NaN, "NaN is not in JSON"],
    ["an infinity", Number.NEGATIVE_INFINITY, "-Infinity is not in JSON"],
    ["a Map", new Map(), "Object.fromEntries(map)"],
    ["a Set", new Set(), "[...set]"],
    ["a symbol", Symbol("s"), "a symbol"],
    ["a function", () => 1, "a function"],
    ["bytes", new Uint8Array(2), "bytes"],
    ["a Buffer", Buffer.from("x"), "bytes"],
    ["an ArrayBuffer", new ArrayBuffer(2), "bytes"],
    ["a class instance", new Money(), "an instance of Money"],
    ["an Error", new RangeError("x"), "an instance of RangeError"],
    ["a boxed number", Object(1), "an instance of Number"],
    ["a promise", Promise.resolve(1), "an instance of Promise"],
    ["an array of a subclass", new (class Ids extends Array {})(), "an instance of Ids"],
    ["an object with toJSON", { toJSON: () => 1 }, "toJSON"],
    ["a hole", new Array(1), "undefined"],
  ];
  for (const [what, value, advice] of cases) {
    test(`${what} is refused with its path and what to do`, () => {
      const path = what === "a hole" ? "arguments[1].items[0].when[0]" : "arguments[1].items[0].when";
      const refusal = refusalOf(["first", { items: [{ when: value }] }]);
      expect(refusal.path).toBe(path);
      expect(refusal.message).toStartWith(`${path}: `);
      expect(refusal.message).toContain(advice);
    });
  }

  test("a cycle is refused where it closes, not where it begins", () => {
    const parent: Record<string, unknown> = { name: "parent" };
    parent.children = [{ parent }];
    expect(refusalOf([parent]).path).toBe("arguments[0].children[0].parent");
  });

  test("the path quotes keys that are not names", () => {
    expect(refusalOf([{ "my key": { "": 1n } }]).path).toBe('arguments[0]["my key"][""]');
  });
});

describe('with onComplexArguments "warn"', () => {
  test("a Date is told of and stored as JSON makes it", () => {
    const problems: string[] = [];
    const json = argumentsJson([{ at: new Date(0) }], (problem) => problems.push(problem));
    expect(json).toBe('[{"at":"1970-01-01T00:00:00.000Z"}]');
    expect(problems).toEqual([
      "arguments[0].at: a Date arrives as a text; pass date.toISOString(); stored as JSON makes it",
    ]);
  });

  test("what JSON cannot carry at all is still refused, behind a Date too", () => {
    const cycle: unknown[] = [];
    cycle.push(cycle);
    const ignore = () => {};
    expect(refusalOf([new Date(0), 5n], ignore).path).toBe("arguments[1]");
    expect(refusalOf([new Date(0), cycle], ignore).path).toBe("arguments[1][0]");
    expect(refusalOf([new Date(0), nested(899)], ignore).message).toContain("deeper");
  });

  test("what toJSON hides is looked at too", () => {
    const ignore = () => {};
    const tooDeep = { toJSON: () => nested(2000) };
    expect(refusalOf([tooDeep], ignore).message).toContain("deeper");
    const circular = new Money() as unknown as { self: unknown };
    circular.self = circular;
    expect(refusalOf([circular], ignore).message).toContain("JSON cannot carry them");
  });
});
