import type { ClaimReference, Reservation, Settlement } from "../store/store.ts";
import type { Ended } from "./executor.ts";

interface Pending {
  readonly settlement: Settlement;
  readonly ended: Ended;
  /** Sent before without an answer: a refusal then means "unknown or done". */
  isResent: boolean;
  /** The store could not carry it out: not before this time again. */
  notBeforeMs: number;
}

/** A claim that waits for its turn, with the number of the call that reserved it. */
interface Queued {
  readonly reservation: Reservation;
  readonly call: number;
}

/**
 * The claims of one worker and where each of its places stands:
 *
 *     free -> queued (reserved, not begun) -> running -> pending (ended, to be settled) -> free
 *
 * A place with a pending settlement may be reserved for in the same call that settles it.
 */
export class Claims {
  private readonly free: number[];
  /** The tokens of what is queued or running, by place. */
  private readonly held = new Map<number, string>();
  private queue: Queued[] = [];
  /** The queue's first entry: those before it have left. */
  private head = 0;
  private pending: Pending[] = [];

  /** @param places how many claims the worker may hold */
  constructor(places: number) {
    this.free = Array.from({ length: places }, (_, i) => places - 1 - i);
  }

  get queuedCount(): number {
    return this.queue.length - this.head;
  }

  get runningCount(): number {
    return this.held.size - this.queuedCount;
  }

  get pendingCount(): number {
    return this.pending.length;
  }

  /** Nothing is held and nothing waits to be settled. */
  get isEmpty(): boolean {
    return this.held.size === 0 && this.pending.length === 0;
  }

  /** One claim is held and nothing waits to be settled. */
  get isNearlyEmpty(): boolean {
    return this.held.size === 1 && this.pending.length === 0;
  }

  /** Everything this worker knows to be its own. */
  get known(): ClaimReference[] {
    const held = [...this.held].map(([slot, token]) => ({ slot, token }));
    return [...held, ...this.pending.map(({ settlement }) => settlement)].filter(({ token }) => token !== "");
  }

  /** Places to reserve for, `count` at most: those that are being settled first, whose records are overwritten. */
  placesToFill(settling: readonly Pending[], count: number): number[] {
    const places: number[] = [];
    for (const { settlement } of settling) {
      if (places.length >= count) return places;
      if (settlement.token !== "") places.push(settlement.slot);
    }
    for (let at = this.free.length - 1; at >= 0 && places.length < count; at--) {
      places.push(this.free[at] as number);
    }
    return places;
  }

  /** These were reserved, by the call of this number; their places are free no longer. */
  add(reservations: readonly Reservation[], call: number): void {
    if (reservations.length === 0) return;
    const taken = new Set(reservations.map(({ slot }) => slot));
    this.dropLeft();
    for (const reservation of reservations) {
      this.held.set(reservation.slot, reservation.token);
      this.queue.push({ reservation, call });
    }
    let kept = 0;
    for (const place of this.free) if (!taken.has(place)) this.free[kept++] = place;
    this.free.length = kept;
  }

  /** The number of the call that reserved the claim that waits longest, 0 where none waits. */
  get nextCall(): number {
    return this.queue[this.head]?.call ?? 0;
  }

  /** The claim that waits longest; its job is then running. */
  next(): Queued | undefined {
    const next = this.queue[this.head];
    if (next !== undefined) this.head += 1;
    return next;
  }

  /** Takes a claim out of those that wait for their turn; it counts as running. */
  setAside(place: number): void {
    const at = this.queue.findIndex(({ reservation }, i) => i >= this.head && reservation.slot === place);
    if (at !== -1) this.queue.splice(at, 1);
  }

  /**
   * A claim ended. One without a token (at-most-once) no longer holds its place; when it succeeded it
   * needs no settlement.
   */
  end(place: number, ended: Ended): void {
    const { jobId, settlement } = ended;
    const token = this.held.get(place) ?? "";
    this.held.delete(place);
    if (token === "") this.free.push(place);
    if (token === "" && settlement.outcome === "ack") return;
    this.pending.push({
      settlement: { slot: place, token, jobId, ...settlement },
      ended,
      isResent: false,
      notBeforeMs: 0,
    });
  }

  /** The settlements to send now; each is then free, in doubt or blocked again. */
  takePending(nowMs: number): Pending[] {
    const all = this.pending;
    this.pending = all.filter(({ notBeforeMs }) => notBeforeMs > nowMs);
    return this.pending.length === 0 ? all : all.filter(({ notBeforeMs }) => notBeforeMs <= nowMs);
  }

  hasDue(nowMs: number): boolean {
    return this.pending.some(({ notBeforeMs }) => notBeforeMs <= nowMs);
  }

  settled({ slot, token }: ClaimReference): void {
    if (token !== "") this.free.push(slot);
  }

  /** The store's answer is not known: send them again. */
  putBack(settlements: readonly Pending[], { isSent }: { isSent: boolean }): void {
    for (const each of settlements) each.isResent ||= isSent;
    this.pending = [...settlements, ...this.pending];
  }

  block(pending: Pending, notBeforeMs: number): void {
    pending.notBeforeMs = notBeforeMs;
    this.pending.push(pending);
  }

  /**
   * Claims that the store no longer has: settled by a call whose reply was lost, or taken over. Those that
   * wait for their turn must not begin; running ones go on, and learn it when they are settled.
   *
   * @returns the places that are free now
   */
  forget(missing: readonly ClaimReference[]): number[] {
    const freed: number[] = [];
    for (const { slot, token } of missing) {
      const ended = this.pending.findIndex(
        ({ settlement }) => settlement.slot === slot && settlement.token === token,
      );
      const waiting = this.queue.findIndex(
        ({ reservation }, at) => at >= this.head && reservation.slot === slot && reservation.token === token,
      );
      if (ended !== -1) this.pending.splice(ended, 1);
      else if (waiting !== -1) {
        this.queue.splice(waiting, 1);
        this.held.delete(slot);
      } else continue;
      this.free.push(slot);
      freed.push(slot);
    }
    return freed;
  }

  private dropLeft(): void {
    this.queue = this.queue.slice(this.head);
    this.head = 0;
  }
}

export type PendingSettlement = Pending;
