import { describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileBytes, head, layoutFor, type MarksLayout } from "../../bench/marks/layout.ts";
import { type Marks, marksIn } from "../../bench/marks/marks.ts";
import { MarksReader } from "../../bench/marks/reader.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";

/** What a thread leaves behind whose jobs do this. */
function writeMarks(folder: string, layout: MarksLayout, jobs: (marks: Marks) => void): void {
  const memory = new Uint8Array(fileBytes(layout));
  jobs(marksIn(memory, layout));
  writeFileSync(join(folder, `${crypto.randomUUID()}.marks`), memory);
}

function run(marks: Marks, ...indexes: number[]): void {
  for (const index of indexes) marks.end(index, marks.begin());
}

describe("marks of several threads", () => {
  const layout = { capacity: 100, sampleEvery: 1 };

  test("are counted together", () => {
    using folder = temporaryFolder();
    writeMarks(folder.path, layout, (marks) => run(marks, 0, 2, 4));
    writeMarks(folder.path, layout, (marks) => run(marks, 1, 99));
    writeMarks(folder.path, layout, () => {});
    const reader = new MarksReader(folder.path, layout);
    expect(reader.ran()).toMatchObject({ executed: 5, errors: 0 });
    expect(reader.counts(100)).toEqual({ expected: 100, executed: 5, errors: 0, duplicates: 0 });
  });

  test("a job that ran twice is a duplicate, in one thread or in two", () => {
    using folder = temporaryFolder();
    writeMarks(folder.path, layout, (marks) => run(marks, 3, 3, 8));
    writeMarks(folder.path, layout, (marks) => run(marks, 8));
    expect(new MarksReader(folder.path, layout).counts(2)).toEqual({
      ...{ expected: 2, executed: 2, errors: 0, duplicates: 2 },
    });
  });

  test("a job that threw is an error and was not executed", () => {
    using folder = temporaryFolder();
    writeMarks(folder.path, layout, (marks) => {
      run(marks, 0);
      marks.begin();
      marks.fail();
    });
    expect(new MarksReader(folder.path, layout).counts(2)).toEqual({
      ...{ expected: 2, executed: 1, errors: 1, duplicates: 0 },
    });
  });

  test("the first start and the last end are those of all threads", () => {
    using folder = temporaryFolder();
    const times: number[] = [];
    const timed = (marks: Marks) => {
      times.push(marks.begin());
      marks.end(times.length, times.at(-1)!);
    };
    writeMarks(folder.path, layout, timed);
    writeMarks(folder.path, layout, timed);
    const { firstMs, lastMs } = new MarksReader(folder.path, layout).ran();
    expect(firstMs).toBe(times[0]!);
    expect(lastMs).toBeGreaterThanOrEqual(times[1]!);
  });

  test("before any job there is no time", () => {
    using folder = temporaryFolder();
    writeMarks(folder.path, layout, () => {});
    expect(new MarksReader(folder.path, layout).ran()).toEqual({
      ...{ executed: 0, errors: 0, firstMs: Infinity, lastMs: -Infinity },
    });
  });
});

describe("samples", () => {
  test("are the jobs whose index is a multiple", () => {
    using folder = temporaryFolder();
    const layout = { capacity: 10, sampleEvery: 4 };
    writeMarks(folder.path, layout, (marks) => run(marks, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9));
    const samples = new MarksReader(folder.path, layout).samples();
    expect(samples.map(({ index }) => index)).toEqual([0, 4, 8]);
    for (const { startMs, endMs } of samples) expect(endMs).toBeGreaterThanOrEqual(startMs);
  });

  test("stop where their room ends, and nothing else is lost", () => {
    using folder = temporaryFolder();
    const layout = { capacity: 1, sampleEvery: 1 };
    writeMarks(folder.path, layout, (marks) => run(marks, ...Array.from({ length: 500 }, () => 0)));
    const reader = new MarksReader(folder.path, layout);
    expect(reader.samples()).toHaveLength(65);
    expect(reader.counts(1)).toMatchObject({ executed: 1, duplicates: 499 });
  });

  test("are all jobs of a short run and at most 20,000 of a long one", () => {
    expect(layoutFor(20_000).sampleEvery).toBe(1);
    expect(layoutFor(1_000_000).sampleEvery).toBe(50);
  });
});

test("the file has the layout that its description gives to other languages", () => {
  const layout = { capacity: 70, sampleEvery: 35 };
  expect(fileBytes(layout)).toBe(64 + 16 + (2 + 64) * 24);
  const memory = new Uint8Array(fileBytes(layout));
  const marks = marksIn(memory, layout);
  run(marks, 0, 69);
  marks.end(35, 1234.5);
  const view = new DataView(memory.buffer);
  expect(view.getFloat64(head.executed * 8, true)).toBe(3);
  expect(memory[64]).toBe(1);
  expect(memory[64 + (69 >> 3)]).toBe(1 << (69 & 7));
  expect(view.getFloat64(32, true)).toBe(2);
  expect([view.getFloat64(64 + 16 + 24, true), view.getFloat64(64 + 16 + 32, true)]).toEqual([35, 1234.5]);
});
