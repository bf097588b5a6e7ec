import { describe, expect, test } from "bun:test";
import { didYouMean, nearest } from "../../src/config/did-you-mean.ts";

const keys = ["slots", "log_level", "concurrency", "channels", "timeout", "ttl"];

describe("the nearest valid word", () => {
  test.each([
    ["slost", "slots"],
    ["slot", "slots"],
    ["logLevel", "log_level"],
    ["LOG-LEVEL", "log_level"],
    ["concurency", "concurrency"],
    ["channel", "channels"],
    ["ttll", "ttl"],
  ])("finds for %s the key %s", (word, expected) => {
    expect(nearest(word, keys)).toBe(expected);
  });

  test.each(["banana", "x", "", "redis"])("finds nothing for %p", (word) => {
    expect(nearest(word, keys)).toBeUndefined();
  });

  test("lists what is valid when nothing is near", () => {
    expect(didYouMean("banana", ["a1", "b2"])).toBe(" (valid: a1, b2)");
    expect(didYouMean("slto", ["slot"])).toBe(' (did you mean "slot"?)');
  });
});
