import type { ChannelOrder, ChannelWeight } from "../config/settings.ts";
import type { ChannelShare } from "../store/store.ts";

/**
 * In which order, and with which shares, the free slots of a cycle are filled.
 *
 * - `weighted`: smooth weighted round-robin. Over `sum(weights)` turns each channel gets its weight, spread
 *   evenly; what a channel leaves goes to the others, so that nobody starves and no slot stays empty.
 * - `priority`: strictly in the order given.
 * - `shuffle`: at random, each cycle anew.
 */
export class ChannelPicker {
  private readonly channels: readonly ChannelWeight[];
  private readonly order: ChannelOrder;
  private readonly random: () => number;
  private readonly credit: number[];
  private readonly total: number;

  constructor(channels: readonly ChannelWeight[], order: ChannelOrder, random: () => number = Math.random) {
    this.channels = channels;
    this.order = order;
    this.random = random;
    this.credit = channels.map(() => 0);
    this.total = channels.reduce((sum, { weight }) => sum + weight, 0);
  }

  /** The shares of a cycle with this many free slots. */
  next(slots: number): ChannelShare[] {
    if (this.channels.length === 1) return this.channels.map(({ name }) => ({ channel: name, quota: slots }));
    if (this.order === "weighted") return this.weighted(slots);
    const channels = this.order === "shuffle" ? shuffled(this.channels, this.random) : this.channels;
    return channels.map(({ name }) => ({ channel: name, quota: slots }));
  }

  private weighted(slots: number): ChannelShare[] {
    const quotas = new Map<number, number>();
    for (let turn = 0; turn < slots; turn++) {
      const picked = this.pick();
      quotas.set(picked, (quotas.get(picked) ?? 0) + 1);
    }
    const rest = this.channels.map((_, index) => index).filter((index) => !quotas.has(index));
    rest.sort((a, b) => (this.credit[b] ?? 0) - (this.credit[a] ?? 0));
    return [...quotas.keys(), ...rest].map((index) => ({
      channel: this.channels[index]?.name ?? "",
      quota: quotas.get(index) ?? 0,
    }));
  }

  /** Each turn every channel earns its weight; the richest is picked and pays the total. */
  private pick(): number {
    let best = 0;
    for (const [index, { weight }] of this.channels.entries()) {
      this.credit[index] = (this.credit[index] ?? 0) + weight;
      if ((this.credit[index] ?? 0) > (this.credit[best] ?? 0)) best = index;
    }
    this.credit[best] = (this.credit[best] ?? 0) - this.total;
    return best;
  }
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  const result = [...items];
  for (let last = result.length - 1; last > 0; last--) {
    const other = Math.floor(random() * (last + 1));
    [result[last], result[other]] = [result[other] as T, result[last] as T];
  }
  return result;
}
