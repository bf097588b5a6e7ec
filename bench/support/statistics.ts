/** What several runs, or many samples, come to. */
export interface Summary {
  readonly median: number;
  readonly min: number;
  readonly max: number;
}

export function summaryOf(values: readonly number[]): Summary {
  return { median: quantile(values, 0.5), min: Math.min(...values), max: Math.max(...values) };
}

/** The value below which this share of the values lies; between two, in proportion. */
export function quantile(values: readonly number[], share: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  const place = (sorted.length - 1) * share;
  const low = sorted[Math.floor(place)] ?? Number.NaN;
  const high = sorted[Math.ceil(place)] ?? Number.NaN;
  return low + (high - low) * (place - Math.floor(place));
}

/** As whole numbers: the median, and the least and the greatest in brackets. */
export function spread({ median, min, max }: Summary): string {
  return `${Math.round(median)} (${Math.round(min)} to ${Math.round(max)})`;
}
