/** What came of a client's bytes: a whole line without its end, or one that was too long and was skipped. */
export type Line = Uint8Array | "too long";

const lineFeed = 0x0a;

/**
 * Cuts a stream of bytes into lines. A line over `maxBytes` is not kept: its bytes are let go as they come,
 * up to its end. Bytes after the last line feed wait for the rest of their line.
 */
export class LineSplitter {
  readonly #maxBytes: number;
  #parts: Uint8Array[] = [];
  #heldBytes = 0;
  #isSkipping = false;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Bytes of the line that is not whole yet. */
  get heldBytes(): number {
    return this.#heldBytes;
  }

  /** The lines that `chunk` ends, in their order. */
  push(chunk: Uint8Array): Line[] {
    const lines: Line[] = [];
    let start = 0;
    for (let end = chunk.indexOf(lineFeed); end !== -1; end = chunk.indexOf(lineFeed, start)) {
      this.#hold(chunk.subarray(start, end));
      lines.push(this.#take());
      start = end + 1;
    }
    this.#hold(chunk.subarray(start));
    return lines;
  }

  #hold(bytes: Uint8Array): void {
    if (this.#isSkipping || bytes.length === 0) return;
    if (this.#heldBytes + bytes.length > this.#maxBytes) {
      this.#release();
      this.#isSkipping = true;
      return;
    }
    this.#parts.push(bytes);
    this.#heldBytes += bytes.length;
  }

  #take(): Line {
    const line = this.#isSkipping ? "too long" : joined(this.#parts);
    this.#release();
    this.#isSkipping = false;
    return line;
  }

  #release(): void {
    this.#parts = [];
    this.#heldBytes = 0;
  }
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  return parts.length === 1 ? parts[0]! : Buffer.concat(parts);
}
