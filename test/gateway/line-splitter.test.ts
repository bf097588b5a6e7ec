import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { LineSplitter } from "../../src/gateway/line-splitter.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

function linesOf(chunks: readonly Uint8Array[], maxBytes: number): string[] {
  const splitter = new LineSplitter(maxBytes);
  const lines = chunks.flatMap((chunk) => splitter.push(chunk));
  return lines.map((line) => (line === "too long" ? line : new TextDecoder().decode(line)));
}

describe("a splitter of lines", () => {
  test("finds the same lines however the bytes come", () => {
    const line = fc.string({ unit: "grapheme", maxLength: 20 }).map((text) => text.replaceAll("\n", " "));
    const scenario = fc.record({
      lines: fc.array(line, { maxLength: 8 }),
      cuts: fc.array(fc.nat(200), { maxLength: 10 }),
    });
    fc.assert(
      fc.property(scenario, ({ lines, cuts }) => {
        const all = bytes(lines.map((each) => `${each}\n`).join(""));
        const edges = [0, ...cuts.filter((cut) => cut < all.length).sort((a, b) => a - b), all.length];
        const chunks = edges.slice(1).map((end, index) => all.subarray(edges[index], end));
        const expected = lines.map((each) => (bytes(each).length > 12 ? "too long" : each));
        expect(linesOf(chunks, 12)).toEqual(expected);
      }),
    );
  });

  test("takes a line of exactly the limit", () => {
    expect(linesOf([bytes("1234"), bytes("5\n123456\n")], 5)).toEqual(["12345", "too long"]);
  });

  test("holds nothing of a line that is too long, and goes on with the next", () => {
    const splitter = new LineSplitter(10);
    expect(splitter.push(bytes("123456789"))).toEqual([]);
    expect(splitter.heldBytes).toBe(9);
    for (let i = 0; i < 100; i += 1) {
      expect(splitter.push(bytes("123456789"))).toEqual([]);
      expect(splitter.heldBytes).toBe(0);
    }
    expect(splitter.push(bytes("end\nok\n"))).toEqual(["too long", bytes("ok")]);
  });
});
