import { closeSync, openSync, writeFileSync, writeSync } from "node:fs";
import { join } from "node:path";
import { nowMs } from "./clock.ts";
import {
  bitsBytes,
  fileBytes,
  head,
  headBytes,
  layoutOf,
  type MarksLayout,
  sampleBytes,
  samplesRoom,
} from "./layout.ts";

/** What a thread's jobs count themselves in. */
export interface Marks {
  /** Before the body of a job. @returns the time, for what follows */
  begin(): number;
  /** After the body of a job that ended without an error. */
  end(index: number, startMs: number): void;
  /** After the body of a job that threw. */
  fail(): void;
}

/** Opens this thread's own file of marks, as the environment says. Costs a job well under a microsecond. */
export function openMarks(): Marks {
  const layout = layoutOf(process.env);
  const path = join(process.env["BENCH_FOLDER"] ?? ".", `${crypto.randomUUID()}.marks`);
  writeFileSync(path, new Uint8Array(fileBytes(layout)));
  return marksIn(
    "Bun" in globalThis ? Bun.mmap(path, { shared: true }) : writtenNowAndThen(path, layout),
    layout,
  );
}

/** For a runtime without shared mappings (Node). */
function writtenNowAndThen(path: string, layout: MarksLayout): Uint8Array {
  const memory = new Uint8Array(fileBytes(layout));
  const handle = openSync(path, "r+");
  setInterval(() => writeSync(handle, memory, 0, headBytes, 0), 10).unref();
  process.on("exit", () => {
    writeSync(handle, memory, 0, memory.length, 0);
    closeSync(handle);
  });
  return memory;
}

export function marksIn(memory: Uint8Array, layout: MarksLayout): Marks {
  const { sampleEvery } = layout;
  const numbers = new Float64Array(memory.buffer, memory.byteOffset, headBytes / 8);
  const bitsEnd = headBytes + bitsBytes(layout);
  const bits = memory.subarray(headBytes, bitsEnd);
  const room = samplesRoom(layout);
  const samples = new Float64Array(memory.buffer, memory.byteOffset + bitsEnd, (room * sampleBytes) / 8);
  return {
    begin() {
      const now = nowMs();
      if (numbers[head.firstMs] === 0) numbers[head.firstMs] = now;
      return now;
    },
    end(index, startMs) {
      const now = nowMs();
      bits[index >> 3]! |= 1 << (index & 7);
      if (index % sampleEvery === 0 && numbers[head.samples]! < room) {
        samples.set([index, startMs, now], numbers[head.samples]! * 3);
        numbers[head.samples]! += 1;
      }
      numbers[head.lastMs] = now;
      numbers[head.executed]! += 1;
    },
    fail() {
      numbers[head.lastMs] = nowMs();
      numbers[head.errors]! += 1;
    },
  };
}
