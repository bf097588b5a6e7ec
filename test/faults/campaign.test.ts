import { expect, test } from "bun:test";
import { type SiteEngine, siteEngines } from "../support/site.ts";
import { runCampaign } from "./campaign.ts";
import { faultsFor } from "./faults/table.ts";
import type { RunResult } from "./run.ts";
import { totalsOf } from "./totals.ts";

// `npm run faults` does the same with any number of seeds, jobs and faults.

/** What takes long, or needs more of the machine than a test should. */
const left = new Set([
  "sigstop",
  "sigkill-elsewhere",
  "memory-hog",
  "endless-loop",
  "net-hold",
  "other-version",
]);

/** Four faults each; together nearly all that are done here. */
const seeds: Record<SiteEngine, readonly number[]> = {
  redis: [2358, 245, 3664, 898, 314, 3651],
  sqlite: [33, 322, 2816, 2629, 671],
};

for (const engine of siteEngines) {
  test(`${engine}: fleets that are struck by faults lose no job and settle none twice`, async () => {
    const told: RunResult[] = [];
    const results = await runCampaign({
      engine,
      faults: faultsFor(engine).filter(({ name }) => !left.has(name)),
      jobs: 60,
      strikes: 4,
      seeds: seeds[engine],
      minutes: undefined,
      parallel: 1,
      file: undefined,
      onResult: (result) => told.push(result),
    });
    const failed = results.filter(({ problems }) => problems.length > 0);
    const replays = failed.map(({ seed, problems, dump }) => ({ engine, seed, problems, dump }));
    expect(replays).toEqual([]);
    const { lost, settledStale, stillStored, executed, hits } = totalsOf(results);
    expect({ lost, settledStale, stillStored }).toEqual({ lost: 0, settledStale: 0, stillStored: 0 });
    expect(executed).toBeGreaterThanOrEqual(60 * seeds[engine].length);
    expect(hits).toBeGreaterThan(0);
    console.log(
      told
        .map(({ seed, tookMs, rounds }) => `${seed} (${tookMs} ms): ${rounds.flat().join(", ")}`)
        .join("\n"),
    );
  }, 180_000);
}
