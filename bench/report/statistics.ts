/** What several runs, or many samples, come to. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

/** NaN throughout for no values. */
export function summaryOf(values: readonly number[]): Summary {
  if (values.length === 0) return { median: Number.NaN, min: Number.NaN, max: Number.NaN };
  return { median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

/** The value below which this share of the values lies; between two, in proportion. NaN for no values. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}
