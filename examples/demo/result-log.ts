import { appendFileSync, closeSync, openSync, readdirSync, readSync, statSync } from "node:fs";
import { join } from "node:path";
import { threadId } from "node:worker_threads";

/** What a job found out about its file. */
export interface Result {
  readonly id: string;
  readonly file: string;
  readonly bytes: number;
  readonly gzipBytes: number;
  readonly sha256: string;
  readonly attempt: number;
  readonly worker: number;
  /** Epoch milliseconds. */
  readonly startedMs: number;
  readonly durationMs: number;
}

/** Adds a line to this thread's own file in the folder, so that no two writers share one. */
export function appendResult(folder: string, result: Omit<Result, "worker">): void {
  const line = JSON.stringify({ ...result, worker: threadId });
  appendFileSync(join(folder, `${process.pid}-${threadId}.jsonl`), `${line}\n`);
}

/** Reads what all threads have written, as it grows. A job that ran twice is there twice. */
export class ResultReader {
  readonly results: Result[] = [];
  readonly ids = new Set<string>();
  private readonly folder: string;
  private readonly offsets = new Map<string, number>();

  constructor(folder: string) {
    this.folder = folder;
  }

  /** Takes in the whole lines that were added since the last call. */
  read(): void {
    for (const name of readdirSync(this.folder).filter((each) => each.endsWith(".jsonl"))) {
      const offset = this.offsets.get(name) ?? 0;
      const added = bytesFrom(join(this.folder, name), offset);
      const whole = added.subarray(0, added.lastIndexOf(10) + 1);
      this.offsets.set(name, offset + whole.length);
      for (const line of whole.toString().split("\n")) {
        if (line !== "") this.add(JSON.parse(line) as Result);
      }
    }
  }

  private add(result: Result): void {
    this.results.push(result);
    this.ids.add(result.id);
  }
}

function bytesFrom(path: string, offset: number): Buffer {
  const bytes = Buffer.alloc(statSync(path).size - offset);
  const descriptor = openSync(path, "r");
  try {
    return bytes.subarray(0, readSync(descriptor, bytes, 0, bytes.length, offset));
  } finally {
    closeSync(descriptor);
  }
}
