import { within } from "../foundation/time.ts";

/** What a thread is for; the entry module runs the program of that name. */
export type ThreadRole = "worker" | "pulse" | "probe";

/** The first message to a thread, sent once it listens. */
export interface ThreadInit<I> {
  readonly role: ThreadRole;
  readonly init: I;
}

export interface ThreadEnd {
  readonly code: number;
  /** What Bun says of an error that ended it: a text with a code frame and a stack. */
  readonly reason: string | undefined;
}

/** Where threads begin. */
const entry = new URL("./thread.ts", import.meta.url).href;

/**
 * A Web Worker with its traffic in order: nothing is sent before it listens (earlier messages are lost
 * when a module has a top-level await), and its end is always told once.
 */
export class Thread<In, Out> {
  readonly ended: Promise<ThreadEnd>;
  private readonly worker: Worker;
  /** What was sent before it listened; undefined once it does. */
  private early: In[] | undefined = [];
  private reason: string | undefined;
  private hasEnded = false;
  private onMessage: (message: Out) => void = () => {};

  constructor(role: ThreadRole, init: unknown) {
    this.worker = new Worker(entry);
    this.worker.onmessage = ({ data }: MessageEvent) => {
      if (this.early === undefined || data !== "hello") return this.hear(data);
      this.worker.postMessage({ role, init } satisfies ThreadInit<unknown>);
      for (const message of this.early) this.worker.postMessage(message);
      this.early = undefined;
    };
    this.worker.onerror = (event: ErrorEvent) => {
      event.preventDefault();
      this.reason ??= event.message;
    };
    this.ended = new Promise((resolve) => {
      this.worker.addEventListener("close", (event) => {
        this.hasEnded = true;
        resolve({ code: (event as CloseEvent).code ?? 1, reason: this.reason });
      });
    });
  }

  /** Gets every message of the thread from now on. */
  listen(onMessage: (message: Out) => void): void {
    this.onMessage = onMessage;
  }

  send(message: In): void {
    if (this.hasEnded) return;
    if (this.early !== undefined) this.early.push(message);
    else this.worker.postMessage(message);
  }

  /** A job may post messages too: what cannot be ours is ignored. */
  private hear(data: unknown): void {
    if (typeof data === "object" && data !== null && "type" in data) this.onMessage(data as Out);
  }

  /** Ends it at once. False when it has not ended within `ms`: a native call holds it. */
  async terminate(ms: number): Promise<boolean> {
    if (this.hasEnded) return true;
    this.worker.terminate();
    return within(
      ms,
      this.ended.then(() => true),
      false,
    );
  }
}
