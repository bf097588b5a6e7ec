import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import { join } from "node:path";
import type { Counts } from "../method/record.ts";
import { bitsBytes, head, headBytes, type MarksLayout, sampleBytes } from "./layout.ts";

/** What the heads of all files say. */
export interface Ran {
  readonly executed: number;
  readonly errors: number;
  /** Infinity before the first job. */
  readonly firstMs: number;
  /** -Infinity before the first job's end. */
  readonly lastMs: number;
}

/** A job whose times were kept. */
export interface Sample {
  readonly index: number;
  readonly startMs: number;
  readonly endMs: number;
}

/** Reads what the jobs of a worker's threads and processes have left in a folder. */
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
    const begun = heads.filter((numbers) => numbers[head.firstMs]! > 0);
    return {
      executed: heads.reduce((sum, numbers) => sum + numbers[head.executed]!, 0),
      errors: heads.reduce((sum, numbers) => sum + numbers[head.errors]!, 0),
      firstMs: Math.min(...begun.map((numbers) => numbers[head.firstMs]!)),
      lastMs: Math.max(...begun.map((numbers) => numbers[head.lastMs]! || -Infinity)),
    };
  }

  /** Which jobs ran, by their bits. */
  counts(expected: number): Counts {
    const union = new Uint8Array(bitsBytes(this.layout));
    let ended = 0;
    let errors = 0;
    for (const file of this.files()) {
      const content = readFileSync(file);
      ended += content.readDoubleLE(head.executed * 8);
      errors += content.readDoubleLE(head.errors * 8);
      for (let at = 0; at < union.length; at++) union[at]! |= content[headBytes + at]!;
    }
    let executed = 0;
    for (const byte of union) executed += bitsOf(byte);
    return { expected, executed, errors, duplicates: ended - executed };
  }

  samples(): Sample[] {
    const found: Sample[] = [];
    for (const file of this.files()) {
      const content = readFileSync(file);
      const from = headBytes + bitsBytes(this.layout);
      const samples = content.readDoubleLE(head.samples * 8);
      for (let place = 0; place < samples; place++) {
        const [index, startMs, endMs] = [0, 8, 16].map((offset) =>
          content.readDoubleLE(from + place * sampleBytes + offset),
        ) as [number, number, number];
        found.push({ index, startMs, endMs });
      }
    }
    return found;
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

function bitsOf(byte: number): number {
  let count = 0;
  for (let rest = byte; rest > 0; rest &= rest - 1) count += 1;
  return count;
}
