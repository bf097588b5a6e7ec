import type { Results, SystemFacts } from "./facts.ts";
import type { Metric } from "./metrics.ts";
import type { SubjectSummary } from "./summaries.ts";

/** Which summaries are meant: those that agree with all that is given. */
export interface Wanted {
  readonly part: string;
  readonly workload: string;
  readonly concurrency?: number;
  readonly jobs?: number;
  readonly variant?: string;
}

/** A median, and whose it is. */
export interface Found {
  readonly summary: SubjectSummary;
  readonly value: number;
}

/** Finds what was measured. Failed runs are in none of its numbers. */
export class Lookup {
  private readonly summaries: readonly SubjectSummary[];
  private readonly systems: ReadonlyMap<string, SystemFacts>;

  constructor({ summaries, facts }: Results) {
    this.summaries = summaries;
    this.systems = new Map(facts.systems.map((system) => [system.name, system]));
  }

  all(wanted: Wanted): SubjectSummary[] {
    const given = Object.entries(wanted).filter(([, value]) => value !== undefined);
    return this.summaries.filter((each) =>
      given.every(([name, value]) => each[name as keyof Wanted] === value),
    );
  }

  /** What this system reached; undefined when it was not measured there, or failed. */
  of(system: string, metric: Metric, wanted: Wanted): Found | undefined {
    return best(
      this.all(wanted).filter((each) => each.system === system),
      metric,
    );
  }

  /** The peer that reached the most there, among those that keep jobs through a crash. */
  bestKeeping(metric: Metric, wanted: Wanted): Found | undefined {
    return best(this.peers(wanted, true), metric);
  }

  bestOfAll(metric: Metric, wanted: Wanted): Found | undefined {
    return best(this.peers(wanted), metric);
  }

  /** The peer that took the least. */
  leastOfAll(metric: Metric, wanted: Wanted): Found | undefined {
    return founds(this.peers(wanted), metric).sort((a, b) => a.value - b.value)[0];
  }

  /** What each of the peers that may lose jobs reached there, beside the comparison. */
  losing(metric: Metric, wanted: Wanted): Found[] {
    return founds(this.peers(wanted, false), metric);
  }

  private peers(wanted: Wanted, keepsJobs?: boolean): SubjectSummary[] {
    return this.all(wanted).filter(({ system }) => {
      const facts = this.systems.get(system);
      return facts?.role === "peer" && (keepsJobs === undefined || facts.keepsJobs === keepsJobs);
    });
  }
}

function founds(summaries: readonly SubjectSummary[], metric: Metric): Found[] {
  return summaries.flatMap((summary) => {
    const value = summary.metrics[metric]?.median;
    return value === undefined ? [] : [{ summary, value }];
  });
}

function best(summaries: readonly SubjectSummary[], metric: Metric): Found | undefined {
  return founds(summaries, metric).sort((a, b) => b.value - a.value)[0];
}
