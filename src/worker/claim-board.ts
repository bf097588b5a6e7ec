/**
 * Which claims of a node's workers are reserved but not begun, in shared memory: a part of the board. One
 * word for each place in which a worker holds a claim:
 *
 *     free -> asked      the worker sends for it; the store may have reserved it already
 *     asked -> queued    the answer is here; the job waits for its turn
 *     asked -> free      the store had none, or the answer was lost (a reconciliation follows)
 *     queued -> free     it begins: from here on only the worker ends it
 *     asked, queued -> taken     the conductor gives it back, since its worker cannot begin it
 *     taken -> free      the worker has seen that
 *
 * Beginning a claim and taking it compete for its word; only the winner acts. A word holds the number of its
 * call too, so that nobody takes a later claim for the one that was looked at. All writes but `taken` are the worker's.
 */
export class ClaimBoard {
  private readonly words: Int32Array;
  private readonly cells: Int32Array;
  private readonly names: Uint8Array;
  private readonly places: number;

  /** @param offset in bytes, divisible by four */
  constructor(
    buffer: SharedArrayBuffer,
    { offset, workers, places }: { offset: number; workers: number; places: number },
  ) {
    this.places = places;
    const cells = 1 + workers * cellsPerWorker;
    this.cells = new Int32Array(buffer, offset, cells);
    this.words = new Int32Array(buffer, offset + cells * 4, workers * places);
    this.names = new Uint8Array(buffer, offset + (cells + workers * places) * 4, workers * nameBytes);
  }

  static bytes(workers: number, places: number): number {
    return (1 + workers * cellsPerWorker + workers * places) * 4 + workers * nameBytes;
  }

  // ------------------------------------------------------------------------------ the worker

  /** The worker sends for claims in these places, by its call of this number. */
  ask(worker: number, places: readonly number[], call: number): void {
    Atomics.store(this.cells, this.cell(worker, perWorker.epoch), Math.floor(call / callsPerEpoch));
    const word = wordOf(call, state.asked);
    for (const place of places) Atomics.store(this.words, worker * this.places + place, word);
  }

  /** The store reserved it. One that was taken meanwhile stays so. */
  queue(worker: number, place: number, call: number): void {
    const at = worker * this.places + place;
    Atomics.compareExchange(this.words, at, wordOf(call, state.asked), wordOf(call, state.queued));
  }

  /** True: the claim is the worker's to run. False: it was taken, and must not be run. */
  begin(worker: number, place: number, call: number): boolean {
    const queued = wordOf(call, state.queued);
    const found = Atomics.compareExchange(this.words, worker * this.places + place, queued, 0);
    if (found === queued) Atomics.add(this.cells, this.cell(worker, perWorker.begun), 1);
    return found === queued;
  }

  free(worker: number, place: number): void {
    Atomics.store(this.words, worker * this.places + place, 0);
  }

  /** Whether this worker may hold claims that wait behind others: the conductor looks at it only then. */
  watch(worker: number, isWatched: boolean): void {
    const next = isWatched ? 1 : 0;
    if (Atomics.exchange(this.cells, this.cell(worker, perWorker.watched), next) === next) return;
    if (!isWatched) Atomics.sub(this.cells, watchedWorkers, 1);
    else if (Atomics.add(this.cells, watchedWorkers, 1) === 0) Atomics.notify(this.cells, watchedWorkers);
  }

  // ------------------------------------------------------------------------------ the conductor

  /** A new thread begins in a place, under names of its own. */
  seat(worker: number, names: { executor: string; tokenBase: string }): void {
    this.watch(worker, false);
    Atomics.store(this.cells, this.cell(worker, perWorker.begun), 0);
    this.words.fill(0, worker * this.places, (worker + 1) * this.places);
    const text = new TextEncoder().encode(`${names.executor} ${names.tokenBase}`);
    this.names
      .subarray(worker * nameBytes, (worker + 1) * nameBytes)
      .fill(0)
      .set(text.subarray(0, nameBytes));
  }

  /** Resolves when some worker is watched, or after `timeoutMs`. */
  async someWatched(timeoutMs: number): Promise<boolean> {
    const wait = Atomics.waitAsync(this.cells, watchedWorkers, 0, timeoutMs);
    if (wait.async) await wait.value;
    return Atomics.load(this.cells, watchedWorkers) > 0;
  }

  /** Ends every wait for one. */
  stir(): void {
    Atomics.notify(this.cells, watchedWorkers);
  }

  isWatched(worker: number): boolean {
    return Atomics.load(this.cells, this.cell(worker, perWorker.watched)) === 1;
  }

  /** Grows with each job that a worker begins. */
  begunCount(worker: number): number {
    return Atomics.load(this.cells, this.cell(worker, perWorker.begun));
  }

  /** The claims of a worker that are not begun. */
  unbegun(worker: number): UnbegunClaim[] {
    const found: UnbegunClaim[] = [];
    const text = new TextDecoder().decode(this.names.slice(worker * nameBytes, (worker + 1) * nameBytes));
    const [executor = "", tokenBase = ""] = text.replace(/\0+$/, "").split(" ");
    const epoch = Atomics.load(this.cells, this.cell(worker, perWorker.epoch));
    for (let place = 0; place < this.places; place++) {
      const word = Atomics.load(this.words, worker * this.places + place);
      const kind = stateNames[word & 3];
      if (kind === undefined) continue;
      const call = epoch * callsPerEpoch + (word >>> 2);
      found.push({
        worker,
        place,
        word,
        state: kind,
        executor,
        token: `${callBase(tokenBase, call)}.${place}`,
      });
    }
    return found;
  }

  /** False when the worker was faster, or it is taken already. */
  take({ worker, place, word }: UnbegunClaim): boolean {
    const taken = (word & ~3) | state.taken;
    if (word === taken) return false;
    return Atomics.compareExchange(this.words, worker * this.places + place, word, taken) === word;
  }

  /** Whether a claim that was taken is still not seen by its worker. */
  isTaken({ worker, place, word }: UnbegunClaim): boolean {
    return Atomics.load(this.words, worker * this.places + place) === ((word & ~3) | state.taken);
  }

  private cell(worker: number, name: number): number {
    return 1 + worker * cellsPerWorker + name;
  }
}

/** A claim that its worker has not begun, as the board showed it. */
export interface UnbegunClaim {
  readonly worker: number;
  readonly place: number;
  readonly word: number;
  readonly state: "asked" | "queued" | "taken";
  readonly executor: string;
  readonly token: string;
}

/** What the tokens of one call begin with. */
export function callBase(tokenBase: string, call: number): string {
  return `${tokenBase}.${call.toString(36)}`;
}

const state = { asked: 1, queued: 2, taken: 3 } as const;
const stateNames = [undefined, "asked", "queued", "taken"] as const;
/** A word has 29 bits for the number of its call; how often they were used up stands apart. */
const callsPerEpoch = 2 ** 29;
const watchedWorkers = 0;
const perWorker = { begun: 0, watched: 1, epoch: 2 } as const;
const cellsPerWorker = 3;
const nameBytes = 64;

function wordOf(call: number, kind: number): number {
  return ((call % callsPerEpoch) << 2) | kind;
}
