import type { CatalogStore, ClaimView, EntryPlace } from "../store/catalog-store.ts";
import { claimFault, confirmClaims, liveness } from "./integrity-claims.ts";
import { type Doubt, recheck } from "./integrity-recheck.ts";
import type { DuplicateJob, IntegrityReport, JobState, MalformedEntry } from "./integrity-report.ts";
import { pagesOf } from "./pages.ts";
import { brokenSighting, type Sighting, walk } from "./walk.ts";

type Ids = Iterable<string> | AsyncIterable<string>;

export interface IntegrityOptions {
  /** The ids that were published; each must be stored or acked. Default: none is expected. */
  readonly expectedIds?: Ids | undefined;
  /** The ids known to be done. */
  readonly ackedIds?: Ids | undefined;
  /**
   * Where the done ids are kept in the store: a set, list, sorted set or the fields of a hash; on the embedded
   * engine a table or view of one column in the same file.
   */
  readonly ackedKey?: string | undefined;
  /** Ends the check between two pages with its reason. */
  readonly signal?: AbortSignal | undefined;
}

/** Checks a store; see `integrityCheck`. */
export function checkIntegrity(store: CatalogStore, options: IntegrityOptions): Promise<IntegrityReport> {
  return new IntegrityRun(store, options).report();
}

/**
 * One check, in order: walk over everything, read what is acked, compare with what is expected, walk again
 * for what is in doubt, look again at doubtful claims and attempts.
 */
class IntegrityRun {
  private readonly store: CatalogStore;
  private readonly options: IntegrityOptions;
  private readonly states = new Map<string, JobState>();
  private readonly doubts = new Map<string, Doubt>();
  private readonly suspects: ClaimView[] = [];
  private readonly malformed: MalformedEntry[] = [];
  private readonly broken: { place: string; reason: string }[] = [];

  constructor(store: CatalogStore, options: IntegrityOptions) {
    this.store = store;
    this.options = options;
  }

  async report(): Promise<IntegrityReport> {
    const { signal } = this.options;
    await this.walkOnce();
    await this.readAcked();
    await this.compareExpected();
    const attempted = await this.unknownAttempts();
    await recheck(this.store, this.doubts, { signal, ackedAmong: (among) => this.ackedAmong(among) });
    const { lost, duplicates } = this.settle();
    const { invalidClaims, orphaned } = await confirmClaims(this.store, this.suspects, signal);
    const danglingAttempts = await this.stillAttempted(attempted);
    const { malformed, broken, states } = this;
    const faults = [lost, duplicates, invalidClaims, orphaned, danglingAttempts, malformed, broken];
    return {
      states,
      counts: countsOf(states),
      lost,
      orphaned,
      invalidClaims,
      danglingAttempts,
      duplicates,
      malformed,
      broken,
      isSound: faults.every((found) => found.length === 0),
    };
  }

  private async walkOnce(): Promise<void> {
    const { signal } = this.options;
    const isLive = await liveness(this.store, signal);
    for await (const sighting of walk(this.store, { signal })) this.take(sighting, isLive);
  }

  private take(sighting: Sighting, isLive: (node: string) => boolean): void {
    switch (sighting.kind) {
      case "broken":
        this.broken.push({ place: sighting.place, reason: sighting.reason });
        return;
      case "claim": {
        const isOrphan = sighting.claim.payloads > 0 && !isLive(sighting.claim.node);
        if (isOrphan || claimFault(sighting.claim) !== undefined) this.suspects.push(sighting.claim);
        return;
      }
      case "entries":
        for (const { id, problem } of sighting.entries) {
          if (problem !== undefined) this.malformed.push({ place: sighting.place, problem, id });
          if (id !== undefined) this.meet(id, sighting.place);
        }
    }
  }

  private meet(id: string, place: EntryPlace): void {
    if (this.states.has(id)) this.doubt(id, "double", false);
    this.states.set(id, place.state);
  }

  private doubt(id: string, verdict: Doubt["verdict"], isAcked: boolean): void {
    this.doubts.set(id, { verdict, times: 1, places: [], isAcked, isExpected: false });
  }

  /** After the walk, so that a job acked during it is in one of the two. */
  private async readAcked(): Promise<void> {
    for await (const id of this.acked()) {
      const state = this.states.get(id);
      if (state === undefined) this.states.set(id, "acked");
      else if (state !== "acked") this.doubtAcked(id);
    }
  }

  private doubtAcked(id: string): void {
    const doubt = this.doubts.get(id);
    if (doubt !== undefined) doubt.isAcked = true;
    else this.doubt(id, "stored", true);
  }

  private async *acked(): AsyncGenerator<string> {
    const { ackedIds, ackedKey, signal } = this.options;
    if (ackedIds !== undefined) yield* ackedIds;
    if (ackedKey === undefined) return;
    for await (const page of pagesOf((cursor) => this.store.ids(ackedKey, cursor), signal)) yield* page;
  }

  /** `ackedIds` are a statement that does not change; what the store keeps grows. */
  private async *ackedAmong(among: ReadonlyMap<string, unknown>): AsyncGenerator<string> {
    const { ackedKey, signal } = this.options;
    if (ackedKey === undefined) return;
    for await (const page of pagesOf((cursor) => this.store.ids(ackedKey, cursor), signal)) {
      for (const id of page) if (among.has(id)) yield id;
    }
  }

  private async compareExpected(): Promise<void> {
    for await (const id of this.options.expectedIds ?? []) {
      if (!this.states.has(id)) this.doubt(id, "absent", false);
      const doubt = this.doubts.get(id);
      if (doubt !== undefined) doubt.isExpected = true;
    }
  }

  /** Ids with attempts that the walk did not meet. They are in doubt too: they may have moved. */
  private async unknownAttempts(): Promise<Set<string>> {
    const unknown = new Set<string>();
    try {
      await this.eachAttempt((id) => {
        const state = this.states.get(id);
        if (state !== undefined && state !== "acked") return;
        unknown.add(id);
        if (!this.doubts.has(id)) this.doubt(id, "absent", state === "acked");
      });
    } catch (error) {
      const { place, reason } = brokenSighting("the attempts", error);
      this.broken.push({ place, reason });
    }
    return unknown;
  }

  private async stillAttempted(attempted: ReadonlySet<string>): Promise<string[]> {
    if (attempted.size === 0) return [];
    const dangling = new Set<string>();
    await this.eachAttempt((id) => {
      const isStored = !["acked", "lost", undefined].includes(this.states.get(id));
      if (attempted.has(id) && !isStored) dangling.add(id);
    });
    return [...dangling];
  }

  private async eachAttempt(take: (id: string) => void): Promise<void> {
    for await (const page of pagesOf((cursor) => this.store.attempts(cursor), this.options.signal))
      page.forEach(take);
  }

  /** Turns the verdicts into states. */
  private settle(): { lost: string[]; duplicates: DuplicateJob[] } {
    const lost: string[] = [];
    const duplicates: DuplicateJob[] = [];
    for (const [id, { verdict, places, isAcked, isExpected }] of this.doubts) {
      const place = places[0];
      if (place !== undefined) this.states.set(id, place.state);
      else if (isAcked) this.states.set(id, "acked");
      else if (isExpected) {
        this.states.set(id, "lost");
        lost.push(id);
      } else this.states.delete(id);
      if (verdict === "double") duplicates.push({ id, places });
    }
    return { lost, duplicates };
  }
}

function countsOf(states: ReadonlyMap<string, JobState>): Record<JobState, number> {
  const counts = { ready: 0, planned: 0, retrying: 0, discarded: 0, claimed: 0, acked: 0, lost: 0 };
  for (const state of states.values()) counts[state] += 1;
  return counts;
}
