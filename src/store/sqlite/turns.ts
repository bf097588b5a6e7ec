/**
 * The mutex by which the threads of one process take turns at the file. SQLite's own busy handler does not
 * queue: one busy thread starves the others for seconds. The word holds the holder's id, so that whoever
 * sees a thread die can free it. It keeps order among threads and nothing more: the file's own lock
 * protects the data, so a wait that takes too long goes on without it.
 *
 * The cells of the shared block, with who writes what:
 *
 *     word     who takes or gives back, or the conductor for a dead thread: the holder's id, 0 when free
 *     wanted   who waits: its id, until it has had its turn
 *     last     who takes: its id
 *     freed    who gives back while a thread waits without blocking: a count
 *     news     who committed something that may be reserved: a count
 */
export class Turns {
  readonly buffer: SharedArrayBuffer;
  private readonly holder: number;
  private readonly cells: Int32Array;
  private streakSince = 0;
  /** A holder that was waited for in vain: it is dead, or long, and not waited for again. */
  private givenUp: number | undefined;

  /** @param holder this thread's id, unique in the process and above 0 */
  constructor(buffer: SharedArrayBuffer, holder: number) {
    this.buffer = buffer;
    this.holder = holder;
    this.cells = new Int32Array(buffer);
  }

  /** Blocks the thread. @returns whether the turn is this thread's; false after `maxMs`: go on without it */
  take(maxMs: number): boolean {
    this.letOthersFirst();
    if (this.tryTake()) return true;
    const endsAt = performance.now() + maxMs;
    for (;;) {
      const present = Atomics.load(this.cells, cell.word);
      if (present === this.holder) return false; // a caller further up holds it
      if (present !== 0 && present === this.givenUp) return false;
      this.givenUp = undefined;
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) {
        this.givenUp = present;
        return false;
      }
      Atomics.store(this.cells, cell.wanted, this.holder);
      if (present !== 0) Atomics.wait(this.cells, cell.word, present, Math.min(leftMs, longestSleepMs));
      if (this.tryTake()) return true;
    }
  }

  /** @returns whether the turn is this thread's, without waiting for it */
  takeNow(): boolean {
    return this.tryTake();
  }

  /** As `take`, for a thread that must not be blocked. */
  async takeAsync(maxMs: number): Promise<boolean> {
    const endsAt = performance.now() + maxMs;
    for (;;) {
      const freed = Atomics.load(this.cells, cell.freed);
      if (this.tryTake()) return true;
      const leftMs = endsAt - performance.now();
      if (leftMs <= 0) return false;
      Atomics.store(this.cells, cell.wanted, this.holder);
      const wait = Atomics.waitAsync(this.cells, cell.freed, freed, Math.min(leftMs, longestSleepMs));
      if (wait.async) await wait.value;
    }
  }

  giveBack(): void {
    this.free(this.holder);
  }

  /** Frees what a dead thread holds; nothing when it holds nothing. */
  free(holder: number): void {
    if (Atomics.compareExchange(this.cells, cell.word, holder, 0) !== holder) return;
    Atomics.notify(this.cells, cell.word, 1);
    if (Atomics.load(this.cells, cell.wanted) === 0) return;
    Atomics.add(this.cells, cell.freed, 1);
    Atomics.notify(this.cells, cell.freed);
  }

  /** How often something was committed that may be reserved. */
  get newsCount(): number {
    return Atomics.load(this.cells, cell.news);
  }

  tellNews(): void {
    Atomics.add(this.cells, cell.news, 1);
    Atomics.notify(this.cells, cell.news);
  }

  /** Resolves when the count is no longer `seen`, or after `timeoutMs`. */
  async news(seen: number, timeoutMs: number): Promise<void> {
    const wait = Atomics.waitAsync(this.cells, cell.news, seen, timeoutMs);
    if (wait.async) await wait.value;
  }

  private tryTake(): boolean {
    if (Atomics.compareExchange(this.cells, cell.word, 0, this.holder) !== 0) return false;
    if (Atomics.exchange(this.cells, cell.last, this.holder) !== this.holder) {
      this.streakSince = performance.now();
      Atomics.notify(this.cells, cell.last);
    }
    Atomics.compareExchange(this.cells, cell.wanted, this.holder, 0);
    this.givenUp = undefined;
    return true;
  }

  /**
   * Who gives back and takes again at once is always faster than a thread that must wake up first. So after
   * a while it waits for one that waits. One that does not come may be dead: its wish is forgotten.
   */
  private letOthersFirst(): void {
    const wanted = Atomics.load(this.cells, cell.wanted);
    if (wanted === 0 || wanted === this.holder) return;
    if (Atomics.load(this.cells, cell.last) !== this.holder) return;
    if (performance.now() - this.streakSince < longestStreakMs) return;
    const end = Atomics.wait(this.cells, cell.last, this.holder, yieldMs);
    if (end === "timed-out") Atomics.compareExchange(this.cells, cell.wanted, wanted, 0);
    this.streakSince = performance.now();
  }
}

const cell = { word: 0, wanted: 1, last: 2, freed: 3, news: 4 } as const;
const blockBytes = 32;
/** A wake-up can be lost with the thread that it was meant for. */
const longestSleepMs = 10;
/** How long one thread may have turn after turn while others wait. */
const longestStreakMs = 2;
const yieldMs = 2;

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
  slot.turns ??= new Turns(new SharedArrayBuffer(blockBytes), mainHolder);
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

/** For a new thread of this process; only the thread that starts the others gives these out. */
export function newTurnsPass(): TurnsPass {
  const slot = threadSlot();
  slot.nextHolder = (slot.nextHolder ?? mainHolder) + 1;
  return { buffer: threadTurns().buffer, holder: slot.nextHolder };
}

const mainHolder = 1;
