import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { channelNameProblem, maxChannelWeight, parseChannel, readChannel } from "../../src/config/channel.ts";

const channelName = fc.string({ unit: "grapheme", minLength: 1, maxLength: 60 }).filter((name) => {
  return !/\p{Cc}/u.test(name) && Buffer.byteLength(name) <= 255;
});
const weight = fc.integer({ min: 1, max: maxChannelWeight });

describe("a channel", () => {
  test("of any valid name and weight is read back from name,weight, from an object and from code alike", () => {
    fc.assert(
      fc.property(channelName, weight, (name, weight) => {
        const expected = { isValid: true, value: { name, weight } } as const;
        expect(parseChannel(`${name},${weight}`)).toEqual(expected);
        expect(readChannel({ name, weight })).toEqual(expected);
        expect(readChannel(`${name},${weight}`)).toEqual(expected);
      }),
    );
  });

  test("without a comma is a name of weight 1", () => {
    fc.assert(
      fc.property(
        channelName.filter((name) => !name.includes(",")),
        (name) => {
          expect(parseChannel(name)).toEqual({ isValid: true, value: { name, weight: 1 } });
          expect(readChannel({ name })).toEqual({ isValid: true, value: { name, weight: 1 } });
        },
      ),
    );
  });

  test("is read from any text without throwing, and what is valid has a valid name and weight", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        const reading = parseChannel(text);
        if (!reading.isValid) return expect(reading.problem).not.toBe("");
        expect(channelNameProblem(reading.value.name)).toBeUndefined();
        expect(reading.value.weight).toBeGreaterThanOrEqual(1);
      }),
    );
  });

  test.each(["a:b", "{a}:{b}", "two words", "チャンネル", "📮", "a,b,2"])("may be named like %p", (text) => {
    expect(parseChannel(text).isValid).toBe(true);
  });

  test.each([
    ["", "must not be empty"],
    [",3", "must not be empty"],
    ["a\nb", "control characters"],
    ["a\u0000", "control characters"],
    ["a\u0085", "control characters"],
    ["\ud800", "valid unicode"],
    ["é".repeat(128), "got 256 bytes"],
    ["a,0", 'the weight of channel "a" must be a whole number from 1 to 1000, got 0'],
    ["a,-1", "got -1"],
    ["a,1.5", "got 1.5"],
    ["a,1001", "got 1001"],
    ["a,", 'got ""'],
    ["a,b", 'got "b"'],
    ["a,1e2", 'got "1e2"'],
  ])("written as %p is refused", (text, problem) => {
    const reading = parseChannel(text);
    expect(reading.isValid ? "valid" : reading.problem).toContain(problem);
  });

  test.each([
    [{ name: "a", weight: "3" }, 'got "3"'],
    [{ name: "a", weight: 0 }, "got 0"],
    [{ name: 5 }, "must be text, got 5"],
    [{ nmae: "a" }, 'got the key "nmae"'],
    [["a"], "got a list"],
    [7, "got 7"],
    [null, "got null"],
  ])("given as %p is refused", (value, problem) => {
    const reading = readChannel(value);
    expect(reading.isValid ? "valid" : reading.problem).toContain(problem);
  });

  test("may take 255 bytes", () => {
    expect(parseChannel("x".repeat(255)).isValid).toBe(true);
    expect(parseChannel("x".repeat(256)).isValid).toBe(false);
  });
});
