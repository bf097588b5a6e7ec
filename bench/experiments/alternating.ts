import { inTurn } from "../method/compare.ts";
import { type Summary, summaryOf } from "../report/statistics.ts";
import type { Comparison, Quantity, Reading } from "./experiment.ts";

/** A way beside the present one, in one quantity. */
export interface Ratio {
  readonly at: string;
  readonly quantity: Quantity;
  readonly way: string;
  /** Median of the rounds. */
  readonly present: number;
  readonly other: number;
  /** Of each round: the other way's value by the present one's. */
  readonly ratio: Summary;
}

/** Measures all ways in each round, in turns, and holds each against the first by the same round's values. */
export async function alternating(comparison: Comparison, rounds: number): Promise<Ratio[]> {
  const { at, ways, quantities } = comparison;
  const readings = new Map<string, Reading[]>(ways.map(({ name }) => [name, []]));
  for (let round = comparison.isWarm === true ? 0 : -1; round < rounds; round++) {
    for (const way of inTurn(ways, round)) {
      const reading = await way.measure();
      // The first round warms up.
      if (round >= 0) readings.get(way.name)?.push(reading);
    }
  }
  const [present, ...others] = ways;
  const valuesOf = (way: string, quantity: Quantity) =>
    (readings.get(way) ?? []).map((reading) => reading[quantity] ?? Number.NaN);
  return others.flatMap((way) =>
    quantities.map((quantity) => {
      const [ours, theirs] = [valuesOf(present.name, quantity), valuesOf(way.name, quantity)];
      return {
        ...{ at, quantity, way: way.name },
        ...{ present: summaryOf(ours).median, other: summaryOf(theirs).median },
        ratio: summaryOf(theirs.map((value, round) => value / (ours[round] as number))),
      };
    }),
  );
}
