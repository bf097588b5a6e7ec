import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import { bitsBytes, head, headBytes, type MarksLayout } from "./marks.ts";

/** All that ran, over all threads. */
export interface Ran {
  readonly count: number;
  readonly firstMs: number;
  readonly lastMs: number;
}

/** Reads what the jobs of a node's threads have left in a folder. */
export class MarksReader {
  private readonly folder: string;
  private readonly layout: MarksLayout;

  constructor(folder: string, layout: MarksLayout) {
    this.folder = folder;
    this.layout = layout;
  }

  /** Reads the heads only: cheap enough to ask again and again. */
  ran(): Ran {
    const heads = this.files().map(headOf);
    const active = heads.filter((numbers) => numbers[head.count]! > 0);
    return {
      count: active.reduce((sum, numbers) => sum + numbers[head.count]!, 0),
      firstMs: Math.min(...active.map((numbers) => numbers[head.firstMs]!)),
      lastMs: Math.max(...active.map((numbers) => numbers[head.lastMs]!)),
    };
  }

  /** When each job began, by index; 0: it did not. */
  times(): Float64Array {
    const times = new Float64Array(this.layout.capacity);
    for (const file of this.files()) {
      const content = readFileSync(file);
      const from = headBytes + bitsBytes(this.layout);
      for (let index = 0; index < times.length; index++) {
        times[index] = Math.max(times[index]!, content.readDoubleLE(from + index * 8));
      }
    }
    return times;
  }

  /** @throws Error unless each of the first `expected` jobs ran once */
  assertEachRanOnce(expected: number): void {
    const union = new Uint8Array(bitsBytes(this.layout));
    let counted = 0;
    for (const file of this.files()) {
      const content = readFileSync(file);
      counted += content.readDoubleLE(head.count * 8);
      for (let at = 0; at < union.length; at++) union[at]! |= content[headBytes + at]!;
    }
    let different = 0;
    for (let index = 0; index < expected; index++) {
      if ((union[index >> 3]! & (1 << (index & 7))) !== 0) different += 1;
    }
    if (different === expected && counted === expected) return;
    throw new Error(`expected ${expected} jobs to run once each: ${different} ran, ${counted} times in all`);
  }

  private files(): string[] {
    return readdirSync(this.folder)
      .filter((name) => name.endsWith(".marks"))
      .map((name) => join(this.folder, name));
  }
}

function headOf(file: string): Float64Array {
  const bytes = new Uint8Array(headBytes);
  const handle = openSync(file, "r");
  try {
    readSync(handle, bytes, 0, headBytes, 0);
  } finally {
    closeSync(handle);
  }
  return new Float64Array(bytes.buffer);
}
