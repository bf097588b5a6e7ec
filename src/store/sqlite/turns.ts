/**
 * The mutex by which the threads of one process take turns at the file. SQLite's own busy handler does not
 * queue: one busy thread starves the others for seconds. The word holds the holder's id, so that whoever
 * sees a thread die can free it. It keeps order among threads and nothing more: the file's own lock
 * protects the data, so a wait that takes too long goes on without it.
 */
export class Turns {
  readonly buffer: SharedArrayBuffer;
  private readonly holder: number;
  private readonly word: Int32Array;

  /** @param holder this thread's id, unique in the process and above 0 */
  constructor(buffer: SharedArrayBuffer, holder: number) {
    this.buffer = buffer;
    this.holder = holder;
    this.word = new Int32Array(buffer);
  }

  /** @returns whether the turn is this thread's; false after `maxMs`: go on without it */
  take(maxMs: number): boolean {
    if (Atomics.compareExchange(this.word, 0, 0, this.holder) === 0) return true;
    const endsAt = performance.now() + maxMs;
    for (;;) {
      const present = Atomics.load(this.word, 0);
      if (present === this.holder) return false; // a caller further up holds it
      if (present !== 0) {
        const leftMs = endsAt - performance.now();
        if (leftMs <= 0) return false;
        Atomics.wait(this.word, 0, present, leftMs);
      }
      if (Atomics.compareExchange(this.word, 0, 0, this.holder) === 0) return true;
    }
  }

  giveBack(): void {
    this.free(this.holder);
  }

  /** Frees what a dead thread holds; nothing when it holds nothing. */
  free(holder: number): void {
    if (Atomics.compareExchange(this.word, 0, holder, 0) === holder) Atomics.notify(this.word, 0, 1);
  }
}

const slotKey = Symbol.for("solid-jobs.turns");

interface Slot {
  turns?: Turns;
  nextHolder?: number;
}

function threadSlot(): Slot {
  const holder = globalThis as { [slotKey]?: Slot };
  holder[slotKey] ??= {};
  return holder[slotKey];
}

/** This thread's part in the turns; a thread of its own, without a node, has them for itself. */
export function threadTurns(): Turns {
  const slot = threadSlot();
  slot.turns ??= new Turns(new SharedArrayBuffer(4), mainHolder);
  return slot.turns;
}

/** In a node's thread, before it opens a store. */
export function joinTurns(pass: TurnsPass): void {
  threadSlot().turns = new Turns(pass.buffer, pass.holder);
}

/** What a thread needs to take turns with its process's other threads. */
export interface TurnsPass {
  readonly buffer: SharedArrayBuffer;
  readonly holder: number;
}

/** For a new thread of this process; only the main thread gives these out. */
export function newTurnsPass(): TurnsPass {
  const slot = threadSlot();
  slot.nextHolder = (slot.nextHolder ?? mainHolder) + 1;
  return { buffer: threadTurns().buffer, holder: slot.nextHolder };
}

const mainHolder = 1;
