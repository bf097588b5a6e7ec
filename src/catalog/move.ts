import type { TransferPlace } from "../store/transfer-store.ts";
import { type MoveEnd, moveRefused, refuseBusyStores, refuseSameStore } from "./move-checks.ts";
import { clearPlace, copyPlace, type PlaceMove } from "./move-place.ts";
import { pagesOf } from "./pages.ts";

export interface MoveOptions {
  readonly from: MoveEnd;
  readonly to: MoveEnd;
  /** Takes away from the source what has arrived for certain. */
  readonly isDeleting: boolean;
  /** Copies again what an earlier, finished move has copied. */
  readonly isAgain?: boolean | undefined;
  /** Ends the move between two pages with its reason; another run goes on. */
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: MoveProgress) => void) | undefined;
}

export interface MoveProgress {
  readonly step: "copying" | "checking" | "deleting";
  readonly done: number;
  readonly total: number;
}

export interface MoveReport {
  readonly from: string;
  readonly to: string;
  /** Jobs of the source that are in the target for certain. */
  readonly counts: Readonly<Record<TransferPlace["state"], number>>;
  readonly channels: number;
  readonly paused: number;
  /** Jobs that this run has added; the others came with an earlier run. */
  readonly added: number;
  /** Jobs that were taken away from the source. */
  readonly removed: number;
  /** An earlier run had been ended in its middle. */
  readonly isResumed: boolean;
}

/** Somebody who publishes into the source is waited for this often. */
const roundsAtMost = 5;

/**
 * Copies everything that waits from one store to another: channels in their order and whether they are
 * paused, planned and retried jobs with their times, and the archive, byte for byte. Each run reads all of
 * the source and adds what the journal in the target does not hold; it ends when a whole reading found
 * nothing to add. So a run after a crash goes on, and adds nothing twice.
 *
 * Not copied: counters, crash counts, and what the Ruby member counts. Memory: about 100 bytes for each job
 * of the largest channel or set.
 *
 * @throws SolidJobsError `MOVE_REFUSED` | StoreUnavailable | StoreFull | StoreError | the signal's reason
 */
export function moveJobs(options: MoveOptions): Promise<MoveReport> {
  return new Move(options).run();
}

/** One run, in order: refuse what must not be, copy until nothing is missing, check, delete, forget the journal. */
class Move {
  private readonly options: MoveOptions;
  private readonly from: MoveEnd;
  private readonly to: MoveEnd;
  /** Named for the source: two sources may be moved into one target. */
  private readonly journal: string;
  private added = 0;
  private removed = 0;

  constructor(options: MoveOptions) {
    this.options = options;
    this.from = options.from;
    this.to = options.to;
    this.journal = new Bun.CryptoHasher("sha1").update(this.from.transfer.identity).digest("hex");
  }

  async run(): Promise<MoveReport> {
    await refuseSameStore(this.from, this.to, this.journal);
    await refuseBusyStores(this.from, this.to);
    await this.refuseSecondCopy();
    const isResumed = (await this.to.transfer.note(this.journal, "began")) !== undefined;
    if (!isResumed) await this.note("began", new Date().toISOString());
    const places = await this.copyAll();
    await refuseBusyStores(this.from, this.to);
    if (this.options.isDeleting) await this.deleteCopied(places);
    await this.finish();
    return this.report(places, isResumed);
  }

  /** What a finished move copied cannot be told any more from other jobs. */
  private async refuseSecondCopy(): Promise<void> {
    const finished = await this.to.transfer.note(this.journal, "finished");
    if (finished === undefined) return;
    if (!this.options.isAgain) {
      const { identity } = this.from.transfer;
      throw moveRefused(
        `${identity} was copied here completely at ${finished}; a second copy would run its jobs twice. Delete ` +
          "the source yourself when you have seen that all is well, or copy again with --again",
      );
    }
    await this.forget();
    for (const name of ["began", "finished"]) await this.note(name, undefined);
  }

  private async copyAll(): Promise<Places> {
    for (let round = 1; ; round++) {
      const places = await this.placesOfSource();
      const added = await this.copyRound(places, round === 1 ? "copying" : "checking");
      this.added += added;
      if (added === 0) return places;
      if (round === roundsAtMost) {
        throw moveRefused(
          `jobs are still published into ${this.from.catalog.address}: stop its publishers, then run this again; nothing is added twice`,
        );
      }
    }
  }

  /** @returns how many entries were added; sizes of the target must have grown by them */
  private async copyRound(places: Places, step: MoveProgress["step"]): Promise<number> {
    const total = sum([...places.sizes.values()]);
    let done = 0;
    let addedInAll = 0;
    for (const channel of places.paused) await this.to.catalog.pause(channel);
    for (const place of places.all) {
      const onPage = (entries: number) => {
        done += entries;
        this.options.onProgress?.({ step, done, total: Math.max(total, done) });
      };
      const before = await this.to.transfer.size(place);
      const { seen, added } = await copyPlace(this.placeMove(place, onPage));
      const grown = (await this.to.transfer.size(place)) - before;
      if (grown < added) {
        throw moveRefused(
          `${added} jobs were added to ${describe(place)} of ${this.to.catalog.address}, but it has grown by ${grown}: ` +
            "something else works on it; stop it and run this again",
        );
      }
      places.sizes.set(place, seen);
      addedInAll += added;
    }
    return addedInAll;
  }

  private async deleteCopied(places: Places): Promise<void> {
    const total = sum([...places.sizes.values()]);
    const onPage = (entries: number) => {
      this.removed += entries;
      this.options.onProgress?.({ step: "deleting", done: this.removed, total });
    };
    for (const place of places.all) await clearPlace(this.placeMove(place, onPage));
    if (this.removed >= total) return;
    throw moveRefused(
      `${this.removed} of ${total} jobs were taken away from ${this.from.catalog.address}, the others have changed ` +
        "meanwhile: stop what works on it and run this again",
    );
  }

  /** The journal goes; that the source was copied stays known where the source is still there. */
  private async finish(): Promise<void> {
    if (!this.options.isDeleting) await this.note("finished", new Date().toISOString());
    await this.note("began", undefined);
    await this.forget();
  }

  private async forget(): Promise<void> {
    while (await this.to.transfer.forgetStep(this.journal));
  }

  private async placesOfSource(): Promise<Places> {
    const { catalog } = this.from;
    const paused: string[] = [];
    const channels = new Map<string, number>();
    for await (const page of pagesOf((cursor) => catalog.channels(cursor), this.options.signal)) {
      for (const { name, size, isPaused } of page) {
        channels.set(name, size);
        if (isPaused) paused.push(name);
      }
    }
    let cursor: string | undefined;
    do {
      const survey = await catalog.survey(cursor);
      for (const name of survey.channels) if (!channels.has(name)) channels.set(name, 0);
      cursor = survey.cursor;
    } while (cursor !== undefined);
    refuseGarbledNames(channels.keys(), catalog.address);
    const { planned, retrying, discarded } = await catalog.counters();
    const sizes = new Map<TransferPlace, number>([
      ...[...channels].map(
        ([channel, size]) => [{ state: "ready", channel } as TransferPlace, size] as const,
      ),
      [{ state: "planned" }, planned],
      [{ state: "retrying" }, retrying],
      [{ state: "discarded" }, discarded],
    ]);
    return { all: [...sizes.keys()], sizes, paused, channels: channels.size };
  }

  private placeMove(place: TransferPlace, onPage: (entries: number) => void): PlaceMove {
    const { signal } = this.options;
    const { journal } = this;
    return { from: this.from.transfer, to: this.to.transfer, place, journal, signal, onPage };
  }

  private note(name: string, value: string | undefined): Promise<void> {
    return this.to.transfer.setNote(this.journal, name, value);
  }

  private report({ sizes, paused, channels }: Places, isResumed: boolean): MoveReport {
    const counts = { ready: 0, planned: 0, retrying: 0, discarded: 0 };
    for (const [{ state }, size] of sizes) counts[state] += size;
    return {
      from: this.from.catalog.address,
      to: this.to.catalog.address,
      counts,
      channels,
      paused: paused.length,
      added: this.added,
      removed: this.removed,
      isResumed,
    };
  }
}

interface Places {
  readonly all: readonly TransferPlace[];
  /** Entries of each, as it was read last. */
  readonly sizes: Map<TransferPlace, number>;
  readonly paused: readonly string[];
  readonly channels: number;
}

/** Names come as text: one whose bytes are not UTF-8 is another name by now, and its jobs would be left out. */
function refuseGarbledNames(names: Iterable<string>, address: string): void {
  for (const name of names) {
    if (!name.includes("\ufffd")) continue;
    throw moveRefused(
      `${address} has a channel whose name is not UTF-8 (it reads ${JSON.stringify(name)}): rename its key first`,
    );
  }
}

function describe(place: TransferPlace): string {
  return place.state === "ready" ? `channel "${place.channel}"` : place.state;
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0);
}
