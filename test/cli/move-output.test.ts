import { describe, expect, test } from "bun:test";
import type { MoveReport } from "../../src/catalog/move.ts";
import { moveSummary, ProgressLine } from "../../src/cli/move-output.ts";

const report: MoveReport = {
  from: "sqlite:/srv/jobs.sqlite",
  to: "redis://host:6379",
  counts: { ready: 12_345, planned: 1, retrying: 2, discarded: 3 },
  channels: 4,
  paused: 1,
  added: 7,
  removed: 12_351,
  isResumed: false,
};

describe("the progress of a move", () => {
  test("is one line of a terminal, which is wiped at the end", () => {
    const written: string[] = [];
    const line = new ProgressLine(true, (text) => written.push(text));
    line.show({ step: "copying", done: 500, total: 2000 });
    line.show({ step: "copying", done: 501, total: 2000 });
    line.show({ step: "copying", done: 2000, total: 2000 });
    line.clear();
    line.clear();
    expect(written.map((text) => text.replace(/[█░]+/, "bar"))).toEqual([
      "\rcopying  bar 500 of 2,000 jobs\x1b[K",
      "\rcopying  bar 2,000 of 2,000 jobs\x1b[K",
      "\r\x1b[K",
    ]);
  });

  test("is not shown where there is no terminal", () => {
    const written: string[] = [];
    const line = new ProgressLine(false, (text) => written.push(text));
    line.show({ step: "checking", done: 0, total: 0 });
    line.clear();
    expect(written).toEqual([]);
  });
});

describe("the summary of a move", () => {
  test("tells that there are two copies when nothing was deleted", () => {
    const text = moveSummary(report, false);
    expect(text).toStartWith("12,351 jobs of sqlite:/srv/jobs.sqlite are in redis://host:6379\n");
    expect(text).toContain("  ready      12,345 in 4 channels, 1 of them paused\n");
    expect(text).toEndWith("is left as it is: run nodes on one of the two only\n");
  });

  test("tells what was deleted, and what an earlier run had left to do", () => {
    const text = moveSummary({ ...report, isResumed: true }, true);
    expect(text).toContain("an earlier run was gone on with: 7 were missing");
    expect(text).toEndWith("12,351 jobs were taken away from sqlite:/srv/jobs.sqlite\n");
  });
});
