import type { SiteEngine } from "../support/site.ts";
import type { Fault } from "./fault.ts";
import { planRun } from "./plan.ts";
import type { ResultsFile } from "./results-file.ts";
import { type RunResult, runPlan } from "./run.ts";

export interface CampaignOptions {
  readonly engine: SiteEngine;
  readonly faults: readonly Fault[];
  readonly jobs: number;
  readonly strikes: number | undefined;
  /** In this order. */
  readonly seeds: Iterable<number>;
  /** No run begins after this time. */
  readonly minutes: number | undefined;
  /** Runs at a time. */
  readonly parallel: number;
  readonly file: ResultsFile | undefined;
  readonly onResult: (result: RunResult) => void;
}

/** Runs the seeds that are not in the file yet. @returns the results of those that it ran */
export async function runCampaign(options: CampaignOptions): Promise<RunResult[]> {
  const endsAt = performance.now() + (options.minutes ?? Number.POSITIVE_INFINITY) * 60_000;
  const seeds = options.seeds[Symbol.iterator]();
  const results: RunResult[] = [];
  const runner = async () => {
    while (performance.now() < endsAt) {
      const { value: seed, done } = seeds.next();
      if (done === true) return;
      if (options.file?.has(seed) === true) continue;
      const result = await runPlan(planRun({ ...options, seed }));
      results.push(result);
      options.file?.add(result);
      options.onResult(result);
    }
  };
  await Promise.all(Array.from({ length: options.parallel }, runner));
  return results;
}
