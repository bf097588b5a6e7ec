import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { RunResult } from "./run.ts";
import { totalsOf } from "./totals.ts";

/** What must be the same for a campaign to be gone on with. */
export interface CampaignFacts {
  readonly engine: string;
  readonly faults: readonly string[];
  readonly jobs: number;
  readonly strikes: number | undefined;
}

interface Stored {
  readonly facts: CampaignFacts;
  readonly results: readonly RunResult[];
}

/** A campaign's results on disk: written after each run, so that it can be ended at any time and gone on with. */
export class ResultsFile {
  readonly path: string;
  private readonly facts: CampaignFacts;
  private readonly bySeed: Map<number, RunResult>;

  /**
   * Reads what is there.
   *
   * @throws Error when the file is of another campaign, or no results at all
   */
  constructor(path: string, facts: CampaignFacts) {
    this.path = path;
    this.facts = facts;
    this.bySeed = new Map(existsSync(path) ? read(path, facts).map((result) => [result.seed, result]) : []);
  }

  get results(): RunResult[] {
    return [...this.bySeed.values()];
  }

  /** A run that failed is done too: `--seed` replays it. */
  has(seed: number): boolean {
    return this.bySeed.has(seed);
  }

  add(result: RunResult): void {
    this.bySeed.set(result.seed, result);
    const results = this.results.sort((a, b) => a.seed - b.seed);
    mkdirSync(dirname(this.path), { recursive: true });
    const text = JSON.stringify({ facts: this.facts, totals: totalsOf(results), results });
    writeFileSync(`${this.path}.tmp`, text);
    renameSync(`${this.path}.tmp`, this.path);
  }
}

function read(path: string, facts: CampaignFacts): readonly RunResult[] {
  let stored: Stored;
  try {
    stored = JSON.parse(readFileSync(path, "utf8")) as Stored;
  } catch (error) {
    throw new Error(
      `${path} holds no results of a campaign: ${error}; remove it, or name another file with --out`,
    );
  }
  if (JSON.stringify(stored.facts) === JSON.stringify(facts)) return stored.results;
  throw new Error(
    `${path} is of another campaign (${JSON.stringify(stored.facts)}, now ${JSON.stringify(facts)}); remove it, or name another file with --out`,
  );
}
