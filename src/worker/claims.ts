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

/**
 * The claims of one worker and where each slot stands:
 *
 *     free -> held (reserved, running) -> pending (ended, to be settled) -> free
 *
 * A slot with a pending settlement may be reserved for in the same call that settles it.
 */
export class Claims {
  private readonly free: number[];
  private readonly held = new Map<number, string>();
  private pending: Pending[] = [];

  constructor(slots: number) {
    this.free = Array.from({ length: slots }, (_, i) => slots - 1 - i);
  }

  get freeCount(): number {
    return this.free.length;
  }

  get heldCount(): number {
    return this.held.size;
  }

  get pendingCount(): number {
    return this.pending.length;
  }

  /** Everything this worker knows to be its own. */
  get known(): ClaimReference[] {
    const held = [...this.held].map(([slot, token]) => ({ slot, token }));
    return [...held, ...this.pending.map(({ settlement }) => settlement)].filter(({ token }) => token !== "");
  }

  hold({ slot, token }: Reservation): void {
    this.free.splice(this.free.indexOf(slot), 1);
    this.held.set(slot, token);
  }

  /**
   * The job of a slot ended. A claim without a token (at-most-once) no longer holds its slot; one that
   * succeeded needs no settlement.
   */
  end(slot: number, ended: Ended): void {
    const { jobId, settlement } = ended;
    const token = this.held.get(slot) ?? "";
    this.held.delete(slot);
    if (token === "") this.free.push(slot);
    if (token === "" && settlement.outcome === "ack") return;
    this.pending.push({
      settlement: { slot, token, jobId, ...settlement },
      ended,
      isResent: false,
      notBeforeMs: 0,
    });
  }

  /** The settlements to send now; each is then free, in doubt or blocked again. */
  takePending(nowMs: number): Pending[] {
    const due = this.pending.filter(({ notBeforeMs }) => notBeforeMs <= nowMs);
    if (due.length > 0) this.pending = this.pending.filter(({ notBeforeMs }) => notBeforeMs > nowMs);
    return due;
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

  /** Ended claims that the store no longer has: settled by a call whose reply was lost, or taken over. */
  forget(missing: readonly ClaimReference[]): void {
    for (const { slot, token } of missing) {
      const index = this.pending.findIndex(
        ({ settlement }) => settlement.slot === slot && settlement.token === token,
      );
      if (index === -1) continue;
      this.pending.splice(index, 1);
      this.free.push(slot);
    }
  }

  /** Slots to reserve for: at most `limit` of the free ones and those that are being settled. */
  slotsToFill(settling: readonly Pending[], limit: number): number[] {
    const holding = settling.filter(({ settlement }) => settlement.token !== "");
    return [...holding.map(({ settlement }) => settlement.slot), ...this.free].slice(0, limit);
  }
}

export type PendingSettlement = Pending;
