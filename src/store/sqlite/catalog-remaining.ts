import type { StepOptions } from "../catalog-store.ts";

/** A count that is older than this is taken anew. */
const staleMs = 2000;

/**
 * How many entries are left after each step of a long change. Counting looks at every entry, so it is done at
 * the first step, at one that found nothing, and at intervals for what others add or take meanwhile.
 */
export class Remaining {
  private readonly counts = new Map<string, { readonly left: number; readonly countedAt: number }>();

  after(place: string, { gone, isFurther = false, count }: StepTaken): number {
    const now = performance.now();
    const earlier = isFurther && gone > 0 ? this.counts.get(place) : undefined;
    const isUsable = earlier !== undefined && now - earlier.countedAt < staleMs && earlier.left > gone;
    const next = isUsable
      ? { left: earlier.left - gone, countedAt: earlier.countedAt }
      : { left: count(), countedAt: now };
    if (next.left === 0) this.counts.delete(place);
    else this.counts.set(place, next);
    return next.left;
  }
}

interface StepTaken extends StepOptions {
  /** Entries that this step has taken away. */
  readonly gone: number;
  /** How many there are now. */
  readonly count: () => number;
}
