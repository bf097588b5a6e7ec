import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { complaint } from "../../src/cli/complaint.ts";
import { ConfigurationError } from "../../src/foundation/errors.ts";

describe("a complaint", () => {
  test("is the message of an error that is ours", () => {
    expect(complaint(new ConfigurationError("expected a,\n  got b"))).toBe("solid-jobs: expected a, got b\n");
  });

  test("names class and place of an error that is not", () => {
    expect(complaint(new TypeError("x is not a function"))).toMatch(
      /^solid-jobs: unexpected TypeError: x is not a function \(at .*complaint\.test\.ts:\d+:\d+\)?\)\n$/,
    );
    expect(complaint("thrown text")).toStartWith("solid-jobs: unexpected Error: thrown text");
  });

  test("is one line for any message", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (message) => {
        expect(complaint(new ConfigurationError(message)).match(/\n/g)).toHaveLength(1);
      }),
    );
  });
});
