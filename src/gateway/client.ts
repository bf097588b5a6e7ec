import { type Line, LineSplitter } from "./line-splitter.ts";
import type { RedisSession } from "./redis-session.ts";
import { answerLine, errorLine, pipelineLine } from "./reply.ts";
import { maxLineBytes, parseRequest, RefusedRequest } from "./request.ts";

/** What a client needs of its socket: Bun's, or a test's. */
export interface ClientSocket {
  /** Takes some of the bytes and says how many, or less than 0 when the other side is gone. */
  write(bytes: Uint8Array): number;
  pause(): void;
  resume(): void;
  end(): void;
  terminate(): void;
}

/** Beyond this a client that sends without reading is not read from. */
const maxWaitingBytes = 1024 * 1024;

/**
 * One client, its requests answered in their order, one at a time. Its socket is read only while little of it
 * waits, and the next request begins only when the reply before it is written: a slow reader holds one reply.
 *
 * open -> half closed (it sends no more; what it sent is answered, then the socket is ended) -> closed
 * open -> closed (gone: its Redis connection is closed at once, so that no blocking command takes for nobody)
 */
export class Client {
  readonly #socket: ClientSocket;
  readonly #session: RedisSession;
  readonly #splitter = new LineSplitter(maxLineBytes);
  readonly #lines: Line[] = [];
  #waitingBytes = 0;
  #isPaused = false;
  #isHalfClosed = false;
  #isClosed = false;
  #isStopping = false;
  #answering: Promise<void> | undefined;
  #drained = Promise.withResolvers<void>();

  constructor(socket: ClientSocket, session: RedisSession) {
    this.#socket = socket;
    this.#session = session;
  }

  received(chunk: Uint8Array): void {
    for (const line of this.#splitter.push(chunk)) {
      this.#lines.push(line);
      this.#waitingBytes += sizeOf(line);
    }
    if (this.#lines.length > 0) this.#answering ??= this.#answerAll();
    this.#pauseOrResume();
  }

  /** The client sends no more, but may still read. */
  halfClosed(): void {
    this.#isHalfClosed = true;
    if (this.#answering === undefined) this.#socket.end();
  }

  closed(): void {
    this.#isClosed = true;
    this.#lines.length = 0;
    this.#session.close();
    this.#drained.resolve();
  }

  drained(): void {
    this.#drained.resolve();
    this.#drained = Promise.withResolvers<void>();
  }

  /** Takes no further request; resolves when the one under way, if any, is answered. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#answering;
  }

  /** Ends the socket and the Redis connection at once. */
  destroy(): void {
    this.closed();
    this.#socket.terminate();
  }

  async #answerAll(): Promise<void> {
    while (!this.#isClosed && !this.#isStopping) {
      const line = this.#lines.shift();
      if (line === undefined) break;
      this.#waitingBytes -= sizeOf(line);
      this.#pauseOrResume();
      await this.#write(await this.#answer(line));
    }
    this.#answering = undefined;
    if (this.#isHalfClosed && !this.#isClosed) this.#socket.end();
  }

  async #answer(line: Line): Promise<string> {
    try {
      if (line === "too long") throw tooLong();
      const { commands, isPipeline } = parseRequest(line);
      const replies = await this.#session.run(commands);
      return isPipeline ? pipelineLine(replies) : answerLine(replies[0]);
    } catch (error) {
      return errorLine(error);
    }
  }

  async #write(text: string): Promise<void> {
    const bytes = Buffer.from(text);
    for (let offset = 0; offset < bytes.length && !this.#isClosed; ) {
      const { promise } = this.#drained;
      const taken = this.#socket.write(bytes.subarray(offset));
      if (taken < 0) return;
      offset += taken;
      if (offset < bytes.length) await promise;
    }
  }

  #pauseOrResume(): void {
    const isFull = this.#lines.length > 0 && this.#waitingBytes + this.#splitter.heldBytes > maxWaitingBytes;
    if (isFull === this.#isPaused || this.#isClosed) return;
    this.#isPaused = isFull;
    if (isFull) this.#socket.pause();
    else this.#socket.resume();
  }
}

/** A line's cost, so that many short ones count too. */
function sizeOf(line: Line): number {
  return line.length + 64;
}

function tooLong(): RefusedRequest {
  return new RefusedRequest(
    `expected a line of at most ${maxLineBytes} bytes (64 MiB), got a longer one, which was skipped`,
  );
}
