import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** Wall clock with microseconds, the same in every process and thread of a machine. */
export function nowMs(): number {
  return performance.timeOrigin + performance.now();
}

/** What a job leaves behind: which jobs ran (a bit each), and, where it is asked for, when each began. */
export interface MarksLayout {
  readonly capacity: number;
  readonly keepsTimes: boolean;
}

/** Numbers at the head of a file: jobs counted, first and last time, jobs that had run before here. */
export const head = { count: 0, firstMs: 1, lastMs: 2, repeated: 3 } as const;
export const headBytes = 32;

export function bitsBytes({ capacity }: MarksLayout): number {
  return Math.ceil(capacity / 64) * 8;
}

/** Tells a node's process where its jobs count themselves. */
export function marksEnvironment(folder: string, layout: MarksLayout): Record<string, string> {
  return {
    BENCH_FOLDER: folder,
    BENCH_CAPACITY: String(layout.capacity),
    BENCH_KEEPS_TIMES: layout.keepsTimes ? "1" : "0",
  };
}

/**
 * Opens this thread's own file of marks, shared memory that costs a job well under a microsecond, and returns
 * what a job calls with its index. It is the same for every system.
 */
export function openMarks(): (index: number) => void {
  const { BENCH_FOLDER = "", BENCH_CAPACITY, BENCH_KEEPS_TIMES } = process.env;
  const layout = { capacity: Number(BENCH_CAPACITY), keepsTimes: BENCH_KEEPS_TIMES === "1" };
  const path = join(BENCH_FOLDER, `${crypto.randomUUID()}.marks`);
  const bitsEnd = headBytes + bitsBytes(layout);
  writeFileSync(path, new Uint8Array(bitsEnd + (layout.keepsTimes ? layout.capacity * 8 : 0)));
  const memory = Bun.mmap(path, { shared: true });
  const numbers = new Float64Array(memory.buffer, memory.byteOffset, headBytes / 8);
  const bits = memory.subarray(headBytes, bitsEnd);
  const times = layout.keepsTimes
    ? new Float64Array(memory.buffer, memory.byteOffset + bitsEnd, layout.capacity)
    : undefined;
  return (index) => {
    const now = nowMs();
    const byte = bits[index >> 3]!;
    const bit = 1 << (index & 7);
    if ((byte & bit) !== 0) numbers[head.repeated]! += 1;
    bits[index >> 3] = byte | bit;
    if (times !== undefined) times[index] = now;
    if (numbers[head.count] === 0) numbers[head.firstMs] = now;
    numbers[head.lastMs] = now;
    numbers[head.count]! += 1;
  };
}
