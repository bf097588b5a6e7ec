import type { Lookup } from "../lookup.ts";
import { type Goal, ratioGoal } from "./goal.ts";

const embeddedOurs = "solid-jobs-embedded";
const embeddedPeers = ["bunqueue", "plainjob"] as const;

/** Against the best that each peer reaches at this concurrency or any below: more of it may be slower. */
export function embeddedGoals(lookup: Lookup): Goal[] {
  const rates = { part: "embedded", workload: "noop" };
  const counts = new Set(lookup.all(rates).map(({ concurrency }) => concurrency));
  const throughput = [...counts].flatMap((concurrency) =>
    embeddedPeers.map((peer) => {
      const tried = [...counts].filter((each) => each <= concurrency);
      const best = tried
        .flatMap((each) => lookup.of(peer, "jobsPerSecond", { ...rates, concurrency: each }) ?? [])
        .sort((a, b) => b.value - a.value)[0];
      return ratioGoal(`embedded, no-op jobs/s at ${concurrency}, against ${peer}`, "jobsPerSecond", {
        ...{
          ours: lookup.of(embeddedOurs, "jobsPerSecond", { ...rates, concurrency }),
          other: best,
          times: "ahead",
        },
      });
    }),
  );
  const publishing = ["bulk", "hundred", "single"].flatMap((mode) => {
    const wanted = { part: "embedded", workload: `publish ${mode}` };
    const reached = lookup.of(embeddedOurs, "publishedPerSecond", wanted);
    return embeddedPeers.map((peer) =>
      ratioGoal(`embedded, published/s, ${mode}, against ${peer}`, "publishedPerSecond", {
        ...{ ours: reached, other: lookup.of(peer, "publishedPerSecond", wanted), times: "ahead" },
      }),
    );
  });
  return [...throughput, ...publishing];
}

export function sizeGoals(lookup: Lookup): Goal[] {
  const wanted = { part: "sizes", workload: "noop" };
  const sizes = new Set(lookup.all(wanted).map(({ jobs }) => jobs));
  return [...sizes].flatMap((jobs) => {
    const reached = lookup.of(embeddedOurs, "jobsPerSecond", { ...wanted, jobs });
    return embeddedPeers.map((peer) =>
      ratioGoal(`embedded, ${jobs.toLocaleString("en")} jobs waiting, against ${peer}`, "jobsPerSecond", {
        ...{ ours: reached, other: lookup.of(peer, "jobsPerSecond", { ...wanted, jobs }), times: "ahead" },
      }),
    );
  });
}
