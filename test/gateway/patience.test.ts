import { expect, test } from "bun:test";
import { blockingMs, deadlinesMs } from "../../src/gateway/patience.ts";

const command = (text: string) => {
  const [name, ...args] = text.split(" ");
  return { name: name!, args };
};

test.each([
  ["GET BLPOP", 0],
  ["BRPOP a b 0.25", 250],
  ["BLPOP a 0", Number.POSITIVE_INFINITY],
  ["BLMOVE a b RIGHT LEFT 3", 3000],
  ["BLMPOP 2 1 a LEFT", 2000],
  ["BZPOPMIN z 1.5", 1500],
  ["XREAD COUNT 1 block 700 STREAMS s $", 700],
  ["XREAD COUNT 1 STREAMS s 0", 0],
  ["WAIT 1 40", 40],
  ["BLPOP a soon", 0],
  ["BLPOP a -1", 0],
  ["BLPOP", 0],
])("%p is known to wait %p ms", (text, ms) => {
  expect(blockingMs(command(text))).toBe(ms);
});

test("commands sent together wait for those before them too", () => {
  const commands = ["GET a", "BRPOP a 2", "GET a", "BRPOP a 0", "GET a"].map(command);
  expect(deadlinesMs(commands)).toEqual([10_000, 12_000, 12_000, 2 ** 31 - 1, 2 ** 31 - 1]);
});
