import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import { Task } from "solid-jobs";
import { appendResult } from "./result-log.ts";

/** Computes the SHA-256 and the gzip size of one file. Running it twice gives the same result twice. */
export class HashFile extends Task {
  executeTask(file: string, resultFolder: string, failuresOnPurpose: number): void {
    const startedMs = Date.now();
    const start = performance.now();
    if (this.envelope.failureCount < failuresOnPurpose) throw new Error(`failing on purpose on ${file}`);
    const content = readFileSync(file);
    const sha256 = new Bun.CryptoHasher("sha256").update(content).digest("hex");
    const gzipBytes = gzipSync(content).length;
    appendResult(resultFolder, {
      id: this.taskId,
      file,
      bytes: content.length,
      gzipBytes,
      sha256,
      attempt: this.attempt,
      startedMs,
      durationMs: performance.now() - start,
    });
  }

  static retryDelay(): number {
    return 0.2;
  }
}
