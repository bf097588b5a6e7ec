import type { Experiment } from "./experiment.ts";
import { nodeRun } from "./node-run.ts";
import { onStand } from "./stand.ts";

const shapes = [
  { at: "4 workers, alone", workers: 4, slots: 1, lookAhead: 0, jobs: 8000 },
  { at: "4 workers, ahead", workers: 4, slots: 1, lookAhead: 64, jobs: 20_000 },
];

export const ioThreads: Experiment = {
  name: "io-threads",
  summary: "Redis as it is, against two threads for reading and writing",
  run: (compare) =>
    onStand((one) =>
      onStand(
        async (two) => {
          for (const { at, ...shape } of shapes) {
            const given = { ...shape, warmUp: 4000 };
            await compare({
              ...{ at, quantities: ["jobsPerSecond", "redisCpuUs"], isWarm: true },
              ways: [
                { name: "present", measure: () => nodeRun({ ...given, stand: one }) },
                { name: "io-threads 2", measure: () => nodeRun({ ...given, stand: two }) },
              ],
            });
          }
        },
        ["--io-threads", "2", "--io-threads-do-reads", "yes"],
      ),
    ),
};
