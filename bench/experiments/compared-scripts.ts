import type { Comparison, Experiment, Way } from "./experiment.ts";
import { type Feeding, feederOf, feeding } from "./feeding.ts";
import { onStand, type Stand } from "./stand.ts";

/** Jobs of a measure, by how many go through at a time: about a tenth of a second each. */
export const batches = [
  { batch: 64, jobs: 16_000 },
  { batch: 1, jobs: 3000 },
] as const;

export type WaysOfFeeding = Readonly<Record<string, Pick<Feeding, "feeder"> & Partial<Feeding>>>;

/** The ways beside each other, in batches and alone; the first is the present one. */
export function comparedFeeders(
  ways: WaysOfFeeding,
  {
    quantities = ["redisUs"],
    at = batches,
  }: Partial<Pick<Comparison, "quantities">> & { at?: typeof batches | readonly (typeof batches)[0][] } = {},
): Experiment["run"] {
  return (compare) =>
    onStand(async (stand) => {
      for (const { batch, jobs } of at) {
        await compare({ at: placeOf(batch), quantities, ways: waysOf(stand, ways, { batch, jobs }) });
      }
    });
}

/** The same for texts of scripts that take and give what `lua/cycle.lua` does. */
export function comparedScripts(texts: Readonly<Record<string, string>>): Experiment["run"] {
  return comparedFeeders(
    Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { feeder: feederOf(text) }])),
  );
}

export function placeOf(batch: number): string {
  return batch === 1 ? "alone" : `${batch} at a time`;
}

function waysOf(stand: Stand, ways: WaysOfFeeding, size: Pick<Feeding, "batch" | "jobs">): [Way, ...Way[]] {
  const all = Object.entries(ways).map(([name, way]) => ({
    name,
    measure: () => feeding({ stand, ...size, ...way }),
  }));
  return all as [Way, ...Way[]];
}
