// Loaded with the first line: it takes half a MiB of each thread, and many threads never write one.
const fs = () => require("node:fs") as typeof import("node:fs");

/** How long a reader that does not read is waited for. */
const patienceMs = 1000;

export interface LineWriterOptions {
  /** `writeSync` of the file descriptor by default: may write a part and throws errors with a `code`. */
  readonly writeSome?: (bytes: Uint8Array) => number;
  readonly patienceMs?: number;
}

/**
 * Writes whole texts to a file descriptor synchronously, in a worker thread as in the main one, so that
 * nothing is lost when the process ends right after.
 *
 * A full pipe (EAGAIN) is waited for up to a second; then the text is given up, and the following ones
 * are only tried until the reader reads again: a stalled reader must not stop the jobs. A reader that is
 * gone (EPIPE), and any other failure to write, loses the text: a log has nowhere to report that to.
 */
export function lineWriter(fd: number, options: LineWriterOptions = {}): (text: string) => void {
  const { writeSome = (bytes) => fs().writeSync(fd, bytes), patienceMs: patience = patienceMs } = options;
  const encoder = new TextEncoder();
  let isStalled = false;
  let isMidLine = false;
  return (text) => {
    const bytes = encoder.encode(isMidLine ? `\n${text}` : text);
    const written = writeAll(bytes, writeSome, isStalled ? 0 : patience);
    if (written > 0) isMidLine = written < bytes.length;
    isStalled = written < bytes.length;
  };
}

/** How many bytes were written before the reader stalled for `patience` or writing failed. */
function writeAll(bytes: Uint8Array, writeSome: (bytes: Uint8Array) => number, patience: number): number {
  let written = 0;
  let waitedMs = 0;
  while (written < bytes.length) {
    try {
      written += writeSome(bytes.subarray(written));
      waitedMs = 0;
    } catch (error) {
      const { code } = error as NodeJS.ErrnoException;
      if (code === "EINTR") continue;
      if (code !== "EAGAIN" || waitedMs >= patience) return written;
      const pauseMs = Math.min(20, 1 + waitedMs);
      blockFor(pauseMs);
      waitedMs += pauseMs;
    }
  }
  return written;
}

function blockFor(ms: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, ms);
}
