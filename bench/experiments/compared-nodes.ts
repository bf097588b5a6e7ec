import type { Comparison, Way } from "./experiment.ts";
import { type NodeGiven, nodeRun } from "./node-run.ts";

export interface NodesGiven extends Omit<NodeGiven, "change"> {
  readonly at: string;
  readonly quantities: Comparison["quantities"];
}

/** Nodes with changes to the runtime beside the present one; names of ways to what differs. */
export function comparedNodes(
  { at, quantities, ...given }: NodesGiven,
  differences: Readonly<Record<string, Partial<NodeGiven>>>,
): Comparison {
  const ways = Object.entries({ present: {}, ...differences }).map(
    ([name, difference]): Way => ({ name, measure: () => nodeRun({ ...given, ...difference }) }),
  );
  return { at, quantities, ways: ways as [Way, ...Way[]], isWarm: true };
}
