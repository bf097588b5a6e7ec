import { afterEach, beforeEach, expect, jest, test } from "bun:test";
import { Overseer } from "../../src/conductor/overseer.ts";
import type { WorkerSeat } from "../../src/conductor/worker-seat.ts";
import { silentLogger } from "../../src/instrumentation/logger-output.ts";
import { Board } from "../../src/worker/board.ts";
import type { ToWorker } from "../../src/worker/messages.ts";

beforeEach(() => {
  jest.useFakeTimers();
});

afterEach(() => {
  jest.useRealTimers();
});

function seat() {
  const sent: string[] = [];
  const ends: unknown[] = [];
  const its = {
    send: ({ type }: ToWorker) => void sent.push(type),
    end: (reason: unknown) => ends.push(reason) > 0,
  };
  return { sent, ends, its: its as unknown as WorkerSeat };
}

test("idle workers are stirred when any of them reserved, and left alone while nothing comes", () => {
  const board = Board.create({ concurrency: 2, slots: 1, lookAhead: 0, delivery: "at-least-once" });
  const [one, other] = [seat(), seat()];
  const overseer = new Overseer({ board, seats: [one.its, other.its], logger: silentLogger });
  for (let i = 0; i < 5; i++) jest.advanceTimersByTime(1000);
  expect([one.sent, other.sent]).toEqual([[], []]);
  board.countTurn(1);
  for (let i = 0; i < 5; i++) jest.advanceTimersByTime(1000);
  expect([one.sent, other.sent]).toEqual([["stir"], ["stir"]]);
  overseer.stop();
});
