import { type Metric, metrics } from "./metrics.ts";
import type { Summary } from "./statistics.ts";

/** A value with the digits of its metric, thousands apart. */
export function valueText(metric: Metric, value: number): string {
  const { digits } = metrics[metric];
  return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** The median, and the least and the greatest in brackets where there were several runs that differed. */
export function summaryText(metric: Metric, { median, min, max }: Summary): string {
  const [middle, least, greatest] = [median, min, max].map((value) => valueText(metric, value));
  return least === greatest ? middle! : `${middle} (${least} to ${greatest})`;
}
