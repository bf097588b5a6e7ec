import type { Executor, Reservation, Settlement, SettlementOutcome } from "../../../src/store/store.ts";
import type { CrashPoints } from "./crash-points.ts";
import type { Facts, Ledger } from "./ledger.ts";
import { nodeRecord, type Place, type Scene } from "./scene.ts";

export const channels = [
  { channel: "default", quota: 1000 },
  { channel: "low", quota: 1000 },
];

/** The process that dies: what the steps of a scenario are taken with. */
export class Actor implements Scene {
  readonly main: Place;
  readonly other: Place;
  readonly ledger: Ledger;
  readonly worker: Executor = { node: "host~bun:1:victim", executor: "w0-1", generation: "g1" };
  private readonly points: CrashPoints;

  constructor({ main, other, ledger }: Scene, points: CrashPoints) {
    this.main = watched(main, points);
    this.other = other === main ? this.main : watched(other, points);
    this.ledger = ledger;
    this.points = points;
  }

  /** From here on each step may be the last one. Connections are made before, unless making them is the step. */
  async watch({ isConnected = true } = {}): Promise<void> {
    if (isConnected) {
      for (const { store, catalog, transfer } of new Set([this.main, this.other])) {
        await store.open();
        await catalog.counters();
        await transfer.size({ state: "planned" });
      }
    }
    this.points.watch();
  }

  will<T>(facts: Facts, step: () => Promise<T>, options?: { isWhole: boolean }): Promise<T> {
    return this.ledger.will(facts, step, options);
  }

  /** Becomes a node with one worker. */
  async join(): Promise<void> {
    await this.main.store.register(nodeRecord(this.worker.node));
    await this.main.store.grant(this.worker);
  }

  /** Reserves as many jobs as there are slots, which the ledger is told of. */
  async hold(...ids: readonly string[]): Promise<readonly Reservation[]> {
    const { reserved } = await this.will(all(ids, "claimed"), () => this.cycle([], ids.length));
    if (reserved.length !== ids.length)
      throw new Error(`expected ${ids.length} claims, got ${reserved.length}`);
    return reserved;
  }

  cycle(settlements: readonly Settlement[], slots = 0) {
    return this.main.store.cycle({
      executor: this.worker,
      settlements,
      slots: Array.from({ length: slots }, (_, slot) => slot),
      channels,
    });
  }
}

/** One fact for many jobs. */
export function all(ids: readonly string[], place: string): Facts {
  return Object.fromEntries(ids.map((id) => [id, place]));
}

export function ids(count: number, first = "job"): string[] {
  return Array.from({ length: count }, (_, i) => `${first}-${i}`);
}

export function settlement({ slot, token, raw }: Reservation, outcome: SettlementOutcome): Settlement {
  const { id } = JSON.parse(raw) as { id: string };
  return { slot, token, jobId: id, ...outcome };
}

function watched(place: Place, points: CrashPoints): Place {
  return {
    address: place.address,
    store: points.around(place.store, "Store"),
    catalog: points.around(place.catalog, "CatalogStore"),
    transfer: points.around(place.transfer, "TransferStore"),
  };
}
