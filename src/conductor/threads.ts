import { within } from "../foundation/time.ts";
import { newTurnsPass, type TurnsPass, threadTurns } from "../store/sqlite/turns.ts";
import { beginThread, whyItNeverListened } from "./entry.ts";

/** What a thread is for; the entry module runs the program of that name. */
export type ThreadRole = "worker" | "pulse" | "probe";

/** The first message to a thread, sent once it listens: it loads its program. The second one is what that begins with. */
export interface ThreadRoleMessage {
  readonly role: ThreadRole;
  readonly turns: TurnsPass;
}

export interface ThreadEnd {
  readonly code: number;
  /** What Bun says of an error that ended it: a text with a code frame and a stack. */
  readonly reason: string | undefined;
  /** For one that began in the program's main file and ended without listening: what the file must do. */
  readonly neverListened: string | undefined;
}

/** A main file that runs again in a thread may do slow things before it comes to `run`. */
const listenMs = 30_000;

/**
 * A Web Worker with its traffic in order: nothing is sent before it listens (earlier messages are lost
 * when a module has a top-level await), and its end is always told once.
 */
export class Thread<In, Out> {
  readonly ended: Promise<ThreadEnd>;
  private readonly worker: Worker;
  /** What was sent before it listened; undefined once it does. */
  private early: unknown[] | undefined = [];
  private reason: string | undefined;
  private lateness: string | undefined;
  hasEnded = false;
  private onMessage: (message: Out) => void = () => {};

  /** @throws ConfigurationError in a bundled program whose main file does not call `run` */
  constructor(role: ThreadRole, options: { readonly listenMs?: number } = {}) {
    this.worker = beginThread();
    const turns = newTurnsPass();
    const late = this.endWhenLate(options.listenMs ?? listenMs);
    this.worker.onmessage = ({ data }: MessageEvent) => {
      if (this.early === undefined || data !== "hello") return this.hear(data);
      clearTimeout(late);
      this.worker.postMessage({ role, turns } satisfies ThreadRoleMessage);
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
        threadTurns().free(turns.holder);
        clearTimeout(late);
        const code = (event as CloseEvent).code ?? 1;
        resolve({ code, reason: this.reason, neverListened: this.whyItNeverListened(code) });
      });
    });
  }

  /** Lets its program run, and gets every message of the thread from now on. To be called once, before `send`. */
  begin(init: unknown, onMessage: (message: Out) => void): void {
    this.onMessage = onMessage;
    this.post(init);
  }

  send(message: In): void {
    this.post(message);
  }

  private post(message: unknown): void {
    if (this.hasEnded) return;
    if (this.early !== undefined) this.early.push(message);
    else this.worker.postMessage(message);
  }

  private endWhenLate(lateMs: number): ReturnType<typeof setTimeout> {
    return setTimeout(() => {
      this.lateness = whyItNeverListened({ lateMs });
      if (this.lateness !== undefined) this.worker.terminate();
    }, lateMs);
  }

  private whyItNeverListened(code: number): string | undefined {
    if (this.early === undefined) return undefined;
    return this.lateness ?? whyItNeverListened({ code, error: this.reason });
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

/** Threads that began before their turn: a node's start is shorter for each that loads its program meanwhile. */
const prepared = new Map<ThreadRole, Thread<never, never>>();

/** Lets a thread begin that `threadFor` will give away; one of each role at most. @throws ConfigurationError as `Thread` */
export function prepareThread(role: ThreadRole): Thread<never, never> {
  const thread = prepared.get(role) ?? new Thread<never, never>(role);
  prepared.set(role, thread);
  return thread;
}

/** The prepared one of this role, unless it has ended, else a new one. @throws ConfigurationError as `Thread` */
export function threadFor<In, Out>(role: ThreadRole): Thread<In, Out> {
  const thread = prepared.get(role) as Thread<In, Out> | undefined;
  prepared.delete(role);
  return thread === undefined || thread.hasEnded ? new Thread<In, Out>(role) : thread;
}

/** Ends what was prepared and is not needed. */
export async function endPreparedThreads(): Promise<void> {
  const threads = [...prepared.values()];
  prepared.clear();
  await Promise.all(threads.map((thread) => thread.terminate(1000)));
}
