import type { Settings } from "../config/settings.ts";
import { ClaimBoard } from "./claim-board.ts";
import { NodeHold } from "./node-hold.ts";

/**
 * What all threads of a node see of each other without a message: one block of shared memory. The
 * conductor reads in it what a spinning or silent worker no longer tells.
 *
 * Who writes what:
 *
 *     idle        workers: how many wait for work with a free slot; who wakes one counts it out
 *     turns       workers: cycles that ended; reserved: jobs they got; watchers: who waits for a turn
 *     quiet       main: nobody reserves
 *     per worker  the worker: its loop's counter, its free slots, the slot whose code holds the loop, idle;
 *                 who wakes it (the pulse, or a worker that found more than it could take): its wake count
 *     per place   the worker: started at, deadline (epoch ms, 0 none), the job's id
 *     claims      which claims are reserved and not begun, see `claim-board.ts`
 *     hold        which worker wants the node for itself, see `node-hold.ts`
 *
 * A worker has a place for each claim that it may hold: as many as its slots and those that it reserves ahead.
 */
export class Board {
  readonly buffer: SharedArrayBuffer;
  readonly workers: number;
  readonly places: number;
  readonly claims: ClaimBoard;
  readonly hold: NodeHold;
  private readonly cells: Int32Array;
  private readonly times: Float64Array;
  private readonly ids: Uint8Array;
  /** Each slot's part of `ids`, from its first use. */
  private readonly idPlaces: Uint8Array[] = [];
  private lastWoken = -1;

  private constructor(buffer: SharedArrayBuffer, workers: number, places: number) {
    this.buffer = buffer;
    this.workers = workers;
    this.places = places;
    const { cells, times, idBytes } = layout(workers, places);
    this.cells = new Int32Array(buffer, 0, cells);
    this.times = new Float64Array(buffer, cells * 4, times);
    const idsAt = cells * 4 + times * 8;
    this.ids = new Uint8Array(buffer, idsAt, idBytes);
    const claimsAt = idsAt + idBytes;
    this.claims = new ClaimBoard(buffer, { offset: claimsAt, workers, places });
    this.hold = new NodeHold(buffer, { offset: claimsAt + ClaimBoard.bytes(workers, places), workers });
  }

  static create({ concurrency, ...settings }: BoardShape): Board {
    const places = placesOf(settings);
    const { cells, times, idBytes } = layout(concurrency, places);
    const ownBytes = cells * 4 + times * 8 + idBytes;
    const bytes = ownBytes + ClaimBoard.bytes(concurrency, places) + NodeHold.bytes(concurrency);
    return new Board(new SharedArrayBuffer(bytes), concurrency, places);
  }

  static over(buffer: SharedArrayBuffer, { concurrency, ...settings }: BoardShape): Board {
    return new Board(buffer, concurrency, placesOf(settings));
  }

  // ------------------------------------------------------------------------------ waking

  /** A worker's own wake count: read before an empty cycle, so that no wake is missed. */
  wakeCount(worker: number): number {
    return Atomics.load(this.cells, this.workerCell(worker, perWorker.wake));
  }

  /** Wakes one idle worker, each in its turn. False when none is idle. */
  wakeOne(): boolean {
    for (let i = 0; i < this.workers; i++) {
      const worker = (this.lastWoken + 1 + i) % this.workers;
      if (!this.endIdle(worker)) continue;
      this.lastWoken = worker;
      this.wake(worker);
      return true;
    }
    return false;
  }

  /** All but one, idle or not: each takes a turn. */
  wakeAll(except: number): void {
    for (let worker = 0; worker < this.workers; worker++) if (worker !== except) this.wake(worker);
  }

  private wake(worker: number): void {
    Atomics.add(this.cells, this.workerCell(worker, perWorker.wake), 1);
    Atomics.notify(this.cells, this.workerCell(worker, perWorker.wake));
  }

  /** Resolves when the worker's wake count is no longer `seen`, or after `timeoutMs`. */
  woken(worker: number, seen: number, timeoutMs: number): Promise<void> {
    return changed(this.cells, this.workerCell(worker, perWorker.wake), seen, timeoutMs);
  }

  get idleWorkers(): number {
    return Atomics.load(this.cells, cell.idle);
  }

  beginIdle(worker: number): void {
    if (Atomics.compareExchange(this.cells, this.workerCell(worker, perWorker.idle), 0, 1) !== 0) return;
    Atomics.add(this.cells, cell.idle, 1);
    Atomics.notify(this.cells, cell.idle);
  }

  /** False when it was not idle, or somebody else has ended it. */
  endIdle(worker: number): boolean {
    if (Atomics.compareExchange(this.cells, this.workerCell(worker, perWorker.idle), 1, 0) !== 1)
      return false;
    Atomics.sub(this.cells, cell.idle, 1);
    return true;
  }

  /** Resolves when some worker is idle, or after `timeoutMs`. */
  someIdle(timeoutMs: number): Promise<void> {
    return changed(this.cells, cell.idle, 0, timeoutMs);
  }

  /** Ends every wait for an idle worker. */
  stirIdle(): void {
    Atomics.notify(this.cells, cell.idle);
  }

  get reservedCount(): number {
    return Atomics.load(this.cells, cell.reserved);
  }

  get turnCount(): number {
    return Atomics.load(this.cells, cell.turns);
  }

  countTurn(reserved: number): void {
    if (reserved > 0) Atomics.add(this.cells, cell.reserved, reserved);
    Atomics.add(this.cells, cell.turns, 1);
    if (Atomics.load(this.cells, cell.watchers) > 0) Atomics.notify(this.cells, cell.turns);
  }

  /** Resolves when a cycle ended since `seen`, or after `timeoutMs`. */
  async turned(seen: number, timeoutMs: number): Promise<void> {
    Atomics.add(this.cells, cell.watchers, 1);
    await changed(this.cells, cell.turns, seen, timeoutMs);
    Atomics.sub(this.cells, cell.watchers, 1);
  }

  get isQuiet(): boolean {
    return Atomics.load(this.cells, cell.quiet) === 1;
  }

  setQuiet(): void {
    Atomics.store(this.cells, cell.quiet, 1);
  }

  // ------------------------------------------------------------------------------ a worker

  /** The worker's event loop has turned. */
  tick(worker: number): void {
    Atomics.add(this.cells, this.workerCell(worker, perWorker.loop), 1);
  }

  loopCount(worker: number): number {
    return Atomics.load(this.cells, this.workerCell(worker, perWorker.loop));
  }

  setFree(worker: number, free: number): void {
    Atomics.store(this.cells, this.workerCell(worker, perWorker.free), free);
  }

  freeSlots(worker: number): number {
    return Atomics.load(this.cells, this.workerCell(worker, perWorker.free));
  }

  /** The slot whose code runs at this moment, or -1. */
  holdingSlot(worker: number): number {
    return Atomics.load(this.cells, this.workerCell(worker, perWorker.holding)) - 1;
  }

  setHolding(worker: number, slot: number): void {
    Atomics.store(this.cells, this.workerCell(worker, perWorker.holding), slot + 1);
  }

  /** A new thread begins in a dead one's place. */
  clearWorker(worker: number): void {
    this.endIdle(worker);
    for (const name of Object.values(perWorker)) Atomics.store(this.cells, this.workerCell(worker, name), 0);
    for (let slot = 0; slot < this.places; slot++) this.endJob(worker, slot);
    this.claims.seat(worker, { executor: "", tokenBase: "" });
    this.hold.setStill(worker, true);
    if (this.hold.release(worker)) this.wakeAll(worker);
  }

  // ------------------------------------------------------------------------------ a slot

  beginJob(worker: number, slot: number, job: { id: string; startedAtMs: number; deadlineMs: number }): void {
    const at = this.slotIndex(worker, slot);
    this.idPlaces[at] ??= this.ids.subarray(at * idBytesPerSlot, (at + 1) * idBytesPerSlot);
    const bytes = this.idPlaces[at];
    const { written } = encoder.encodeInto(job.id, bytes);
    if (written < idBytesPerSlot) bytes[written] = 0;
    this.times[at * 2 + 1] = job.deadlineMs;
    this.times[at * 2] = job.startedAtMs;
  }

  endJob(worker: number, slot: number): void {
    const at = this.slotIndex(worker, slot);
    this.times[at * 2] = 0;
    this.times[at * 2 + 1] = 0;
  }

  /** The jobs that a worker's slots hold now. */
  jobs(worker: number): SlotJob[] {
    const found: SlotJob[] = [];
    for (let slot = 0; slot < this.places; slot++) {
      const at = this.slotIndex(worker, slot);
      const startedAtMs = this.times[at * 2] ?? 0;
      if (startedAtMs === 0) continue;
      const bytes = this.ids.slice(at * idBytesPerSlot, (at + 1) * idBytesPerSlot);
      const end = bytes.indexOf(0);
      const id = new TextDecoder().decode(end === -1 ? bytes : bytes.subarray(0, end));
      found.push({ slot, id, startedAtMs, deadlineMs: this.times[at * 2 + 1] ?? 0 });
    }
    return found;
  }

  /** Slots at work in the whole node. */
  get busy(): number {
    let busy = 0;
    for (let at = 0; at < this.workers * this.places; at++) if (this.times[at * 2] !== 0) busy++;
    return busy;
  }

  private workerCell(worker: number, name: number): number {
    return nodeCells + worker * cellsPerWorker + name;
  }

  private slotIndex(worker: number, slot: number): number {
    return worker * this.places + slot;
  }
}

/** The settings that a board's size follows from. */
export type BoardShape = Pick<Settings, "concurrency" | "slots" | "lookAhead" | "delivery">;

/**
 * How many claims a worker may hold. At most once there is no looking ahead: a job is settled when it is
 * reserved, and could not be given back.
 */
export function placesOf({ slots, lookAhead, delivery }: Omit<BoardShape, "concurrency">): number {
  return slots + (delivery === "at-most-once" ? 0 : lookAhead);
}

export interface SlotJob {
  readonly slot: number;
  readonly id: string;
  readonly startedAtMs: number;
  /** When the thread may be ended for it; 0: never. */
  readonly deadlineMs: number;
}

const cell = { idle: 0, turns: 1, reserved: 2, quiet: 3, watchers: 4 } as const;
const nodeCells = 8;
const perWorker = { loop: 0, free: 1, holding: 2, idle: 3, wake: 4 } as const;
const cellsPerWorker = 6; // even: the times that follow need an address divisible by eight
const idBytesPerSlot = 64;
const encoder = new TextEncoder();

function layout(workers: number, places: number): { cells: number; times: number; idBytes: number } {
  const cells = nodeCells + workers * cellsPerWorker;
  return { cells, times: workers * places * 2, idBytes: workers * places * idBytesPerSlot };
}

async function changed(cells: Int32Array, index: number, seen: number, timeoutMs: number): Promise<void> {
  const wait = Atomics.waitAsync(cells, index, seen, timeoutMs);
  if (wait.async) await wait.value;
}
