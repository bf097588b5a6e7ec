/**
 * Which worker wants its node for itself, in shared memory: a part of the board. One word says who holds the node,
 * and one for each worker whether it stands still:
 *
 *     free -> held       a worker got a suspect; one at a time
 *     held -> free       its suspect has ended or was put off, or its thread has died
 *     stands still       it has seen that the node is held, holds nothing itself, and reserves and begins
 *                        nothing until it says that it moves again; so does a place without a thread
 *
 * A worker that moves again says so and then looks at the word once more; who takes the word looks at the others
 * after it: one of the two sees the other.
 */
export class NodeHold {
  private readonly words: Int32Array;
  private readonly workers: number;

  /** @param offset in bytes, divisible by four */
  constructor(buffer: SharedArrayBuffer, { offset, workers }: { offset: number; workers: number }) {
    this.words = new Int32Array(buffer, offset, 1 + workers);
    this.workers = workers;
  }

  static bytes(workers: number): number {
    return (1 + workers) * 4;
  }

  get isHeld(): boolean {
    return Atomics.load(this.words, 0) !== 0;
  }

  /** False when another one holds it. */
  take(worker: number): boolean {
    return Atomics.compareExchange(this.words, 0, 0, worker + 1) === 0;
  }

  /** False when this worker did not hold it. */
  release(worker: number): boolean {
    return Atomics.compareExchange(this.words, 0, worker + 1, 0) === worker + 1;
  }

  setStill(worker: number, isStill: boolean): void {
    Atomics.store(this.words, 1 + worker, isStill ? 1 : 0);
  }

  areOthersStill(worker: number): boolean {
    for (let other = 0; other < this.workers; other++) {
      if (other !== worker && Atomics.load(this.words, 1 + other) === 0) return false;
    }
    return true;
  }
}
