import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import { Board } from "../../src/worker/board.ts";
import { LoopWatch, type LoopWatchParts } from "../../src/worker/loop-watch.ts";

let board: Board;
let looks: number;
let lines: string[];
let watch: LoopWatch | undefined;

beforeEach(() => {
  jest.useFakeTimers();
  board = Board.create({ concurrency: 1, slots: 1, lookAhead: 0, delivery: "at-least-once" });
  looks = 0;
  lines = [];
});

afterEach(() => {
  watch?.stop();
  jest.useRealTimers();
});

function watching({ slots = 1, running = [] as string[] } = {}): LoopWatch {
  const jobs = new Map(running.map((id) => [id, { envelope: { id } }]));
  const logger = { ...silentLogger, warn: (line: string) => void lines.push(line) };
  watch = new LoopWatch({
    ...{ board, worker: 0, slots, logger },
    executor: { running: jobs },
    report: {
      look() {
        looks += 1;
      },
    },
  } as unknown as LoopWatchParts);
  return watch;
}

/** How often the loop's counter turned within so many seconds. */
function turns(seconds: number): number {
  const before = board.loopCount(0);
  for (let i = 0; i < seconds; i++) jest.advanceTimersByTime(1000);
  return board.loopCount(0) - before;
}

test("an idle worker's loop turns the counter every ten seconds, after a first second", () => {
  watching();
  expect(turns(1)).toBe(1);
  expect(turns(20)).toBe(2);
  expect(looks).toBe(3);
});

test("one that runs a job, or has several slots, turns it every second", () => {
  watching({ running: ["a"] });
  expect(turns(5)).toBe(5);
  watch?.stop();
  watching({ slots: 2 });
  expect(turns(5)).toBe(5);
});

test("an idle one that is stirred turns it a second later, and each second until a whole one brought no job", () => {
  watching();
  turns(1);
  board.countTurn(3);
  watch?.stir();
  expect(turns(1)).toBe(1);
  expect(turns(1)).toBe(1);
  expect(turns(9)).toBe(0);
  expect(turns(1)).toBe(1);
});

test("stirring one that watches closely changes nothing", () => {
  watching({ running: ["a"] });
  for (let i = 0; i < 4; i++) {
    jest.advanceTimersByTime(900);
    watch?.stir();
  }
  expect(board.loopCount(0)).toBe(3);
});
