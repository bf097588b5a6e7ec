import { comparedNodes } from "./compared-nodes.ts";
import type { Experiment } from "./experiment.ts";
import { onStand } from "./stand.ts";

const others = {
  "none ahead": { lookAhead: 0 },
  "always 8": { change: "fixed-8" },
  "always 64": { change: "fixed-64" },
};

export const lookAhead: Experiment = {
  name: "look-ahead",
  summary: "as many claims ahead as the measured time of jobs allows, against none and fixed numbers",
  run: (compare) =>
    onStand(async (stand) => {
      await compare(
        comparedNodes(
          {
            ...{ at: "1 worker, no-op", stand, workers: 1, slots: 1, jobs: 12_000, warmUp: 4000 },
            quantities: ["jobsPerSecond", "workerUs", "redisUs"],
          },
          others,
        ),
      );
    }),
};

/** Where claims ahead may stand in the way: what cannot begin in time is given back to other workers. */
export const lookAheadOfLong: Experiment = {
  name: "look-ahead-of-long",
  summary: "the same where jobs take a while, or some of them do",
  run: (compare) =>
    onStand(async (stand) => {
      const given = { stand, workers: 2, slots: 1 };
      const long = { ...given, at: "2 workers, 60 jobs of 5 ms", jobs: 60, warmUp: 40, spinMs: 5 };
      await compare(comparedNodes({ ...long, quantities: ["jobsPerSecond", "waitMs"] }, others));
      const short = { ...given, at: "2 workers, jobs of 50 us", jobs: 8000, warmUp: 2000, spinMs: 0.05 };
      await compare(comparedNodes({ ...short, quantities: ["jobsPerSecond", "redisUs"] }, others));
      const some = { ...given, at: "2 workers, every 200th job 20 ms", jobs: 6000, warmUp: 2000 };
      await compare(
        comparedNodes({ ...some, spinMs: 20, spinEvery: 200, quantities: ["jobsPerSecond"] }, others),
      );
    }),
};
