import type { Logger } from "../../instrumentation/logger.ts";
import type { Settlement, Store } from "../../store/store.ts";
import type { Board } from "../../worker/board.ts";
import type { UnbegunClaim } from "../../worker/claim-board.ts";
import { Duty } from "./duty.ts";

/** How often workers that hold claims ahead are looked at. */
const intervalMs = 4;
/** A claim whose worker begins nothing for this long goes back: others have it within 25 ms. */
const stuckMs = 14;
/**
 * Claims that are asked for while the worker has free slots are late because the store is: they are left
 * alone for this long, since a worker that is far from its store would never get one.
 */
const askedMs = 500;
/** What is taken and was not there yet is asked for again after this time, then after twice as long, up to a second. */
const againMs = 25;
const longestAgainMs = 1000;
/** Nobody looks ahead: how long to wait for it in one go. */
const waitMs = 5000;

export interface GiveBackParts {
  readonly store: Store;
  readonly node: string;
  readonly board: Board;
  /** Of each worker. */
  readonly slots: number;
  readonly logger: Logger;
}

interface Watch {
  begun: number;
  stillSinceMs: number;
  /** What the board shows of the claims that the worker asks for now: one word for all of a call. */
  asked: number;
  askedSinceMs: number;
}

/** A claim taken from its worker, until the store or the worker has it. */
interface Taken {
  readonly claim: UnbegunClaim;
  dueAtMs: number;
  pauseMs: number;
}

/**
 * Gives back what workers reserved ahead and cannot begin, because a job before it turned out long. It does so
 * from the board, without the worker's help, which may spin. By their tokens, so that it does no harm whenever
 * its commands arrive.
 *
 *     wait until some worker holds claims ahead -> every 4 ms: has it begun a job? -> for 14 ms it has not:
 *     take its claims on the board -> requeue them in the store; those that the worker had only asked for,
 *     again until the worker comes back
 */
export class GiveBack {
  private readonly with: GiveBackParts;
  private readonly duty: Duty;
  private readonly watches: Watch[];
  private taken: Taken[] = [];

  constructor(parts: GiveBackParts) {
    this.with = parts;
    this.watches = Array.from({ length: parts.board.workers }, () => ({
      begun: -1,
      stillSinceMs: 0,
      asked: 0,
      askedSinceMs: 0,
    }));
    this.duty = new Duty("giving back claims", parts.logger, () => this.round());
  }

  async stop(): Promise<void> {
    const stopped = this.duty.stop();
    this.with.board.claims.stir();
    await stopped;
  }

  private async round(): Promise<number> {
    const { board } = this.with;
    if (this.taken.length === 0 && !(await board.claims.someWatched(waitMs))) return 0;
    const nowMs = performance.now();
    for (let worker = 0; worker < board.workers; worker++) {
      if (board.claims.isWatched(worker)) this.look(worker, nowMs);
    }
    await this.requeue(nowMs);
    return intervalMs;
  }

  private look(worker: number, nowMs: number): void {
    const { board } = this.with;
    const watch = this.watches[worker] as Watch;
    const begun = board.claims.begunCount(worker);
    if (begun !== watch.begun) {
      watch.begun = begun;
      watch.stillSinceMs = nowMs;
      return;
    }
    const stillMs = nowMs - watch.stillSinceMs;
    if (stillMs < stuckMs) return;
    const running = board.jobs(worker).length;
    if (running === 0) return; // it waits for the store, and begins what comes
    const isFull = running >= this.with.slots || board.holdingSlot(worker) !== -1;
    const claims = board.claims.unbegun(worker);
    const isAskedLong = askedFor(watch, claims, nowMs) >= askedMs;
    for (const claim of claims) {
      const isDue = claim.state === "queued" || isFull || isAskedLong;
      if (isDue && board.claims.take(claim)) this.taken.push({ claim, dueAtMs: nowMs, pauseMs: againMs });
    }
  }

  private async requeue(nowMs: number): Promise<void> {
    const { board } = this.with;
    this.taken = this.taken.filter(({ claim }) => board.claims.isTaken(claim));
    const due = this.taken.filter(({ dueAtMs }) => dueAtMs <= nowMs);
    for (const [executor, group] of Map.groupBy(due, ({ claim }) => claim.executor)) {
      const gone = await this.requeueOf(executor, group);
      this.taken = this.taken.filter((each) => !gone.has(each));
    }
  }

  /** @returns those that need nothing more */
  private async requeueOf(executor: string, group: readonly Taken[]): Promise<Set<Taken>> {
    const { store, node, logger } = this.with;
    const settlements = group.map(
      ({ claim }): Settlement => ({ slot: claim.place, token: claim.token, jobId: "", outcome: "requeue" }),
    );
    const name = { node, executor, generation: "" };
    const reply = await store.cycle({ executor: name, settlements, slots: [], channels: [] });
    const refused = new Set(reply.refused);
    const blocked = new Set(reply.blocked.map(({ settlement }) => settlement));
    const gone = group.filter(({ claim }, at) => {
      const settlement = settlements[at] as Settlement;
      return !blocked.has(settlement) && (claim.state === "queued" || !refused.has(settlement));
    });
    const returned = settlements.length - refused.size - blocked.size;
    if (returned > 0)
      logger.debug("claims reserved ahead were given back", { worker: executor, jobs: returned });
    for (const each of group) {
      each.dueAtMs = performance.now() + each.pauseMs;
      each.pauseMs = Math.min(each.pauseMs * 2, longestAgainMs);
    }
    return new Set(gone);
  }
}

/** For how long the worker waits for the answer to its present call. It may have begun nothing for longer. */
function askedFor(watch: Watch, claims: readonly UnbegunClaim[], nowMs: number): number {
  const asked = claims.find(({ state }) => state === "asked")?.word ?? 0;
  if (asked !== watch.asked) {
    watch.asked = asked;
    watch.askedSinceMs = nowMs;
  }
  return nowMs - watch.askedSinceMs;
}
