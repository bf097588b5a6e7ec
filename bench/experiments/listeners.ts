import { comparedNodes } from "./compared-nodes.ts";
import type { Experiment } from "./experiment.ts";
import { onStand } from "./stand.ts";

export const listeners: Experiment = {
  name: "listeners",
  summary: "no instrumenter, so that no event is made, against one that counts events",
  run: (compare) =>
    onStand((stand) =>
      compare(
        comparedNodes(
          {
            ...{ at: "1 worker, no-op", stand, workers: 1, slots: 1, jobs: 30_000, warmUp: 10_000 },
            quantities: ["jobsPerSecond", "workerUs"],
          },
          { "one listener": { change: "listener" } },
        ),
      ),
    ),
};
