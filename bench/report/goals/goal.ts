import type { Found } from "../lookup.ts";
import type { Metric } from "../metrics.ts";
import { valueText } from "../numbers.ts";

/** Whose numbers the goals are about, on Redis. */
export const ours = "solid-jobs";

/** A number to reach, and what the run says of it. */
export interface Goal {
  readonly what: string;
  readonly goal: string;
  readonly reached: string;
  /** Undefined: not measured in this run. */
  readonly isReached: boolean | undefined;
  /** What else was measured there, for orientation. */
  readonly beside: string;
}

export type Side = Found | undefined;

/** How much of another must be reached: so many times as much, or any more than it. */
export type Times = number | "ahead";

/** Held against another: `times` as much. */
export function ratioGoal(
  what: string,
  metric: Metric,
  { ours, other, times, beside = [] }: { ours: Side; other: Side; times: Times; beside?: readonly Found[] },
): Goal {
  const goal = times === "ahead" ? "ahead of it" : times === 1 ? "no less" : `${times} x`;
  if (ours === undefined || other === undefined) return missing(what, goal);
  const ratio = ours.value / other.value;
  const text = `${ratio.toFixed(2)} x: ${valueText(metric, ours.value)} against ${other.summary.system} ${valueText(metric, other.value)}`;
  const isReached = times === "ahead" ? ratio > 1 : ratio >= times;
  return { what, goal, reached: text + failures(ours), isReached, beside: besideText(metric, beside) };
}

/** At most a number of units; `factor` turns the metric into them. */
export function limitGoal(
  what: string,
  {
    ours,
    most,
    unit,
    factor = 1,
    digits = 1,
  }: { ours: Side; most: number; unit: string; factor?: number; digits?: number },
): Goal {
  const goal = `at most ${most} ${unit}`;
  if (ours === undefined) return missing(what, goal);
  const value = ours.value * factor;
  return {
    ...{ what, goal, reached: `${value.toFixed(digits)} ${unit}${failures(ours)}` },
    ...{ isReached: value <= most, beside: "" },
  };
}

export function missing(what: string, goal: string): Goal {
  return { what, goal, reached: "not measured", isReached: undefined, beside: "" };
}

/** Runs that failed count for nothing, and are not passed over. */
function failures({ summary }: Found): string {
  return summary.failed === 0 ? "" : ` (${summary.failed} runs FAILED)`;
}

function besideText(metric: Metric, found: readonly Found[]): string {
  return found
    .map(({ summary: { system, variant }, value }) => {
      const name = variant === "" ? system : `${system} (${variant})`;
      return `${name} ${valueText(metric, value)}`;
    })
    .join(", ");
}
