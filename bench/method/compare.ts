import type { System } from "../systems/system.ts";
import type { Surroundings, Workload } from "../workloads/workload.ts";
import type { Bench } from "./bench.ts";
import { type Contender, type Measured, measuredRun } from "./measured-run.ts";
import { inFreshPlace, type Place } from "./place.ts";
import type { Subject } from "./record.ts";

/** Something that several systems do side by side. */
export interface Point {
  readonly workload: Workload;
  readonly concurrency: number;
  readonly jobs: number;
  /**
   * Who gets fewer or more jobs than that: `each` by its pace (for what costs a system nothing but its own
   * work), `slow` only the slow ones, `none` (all get the same).
   */
  readonly paced: "each" | "slow" | "none";
}

/** A system that would need longer than this for a point is left out, with a line. */
const longestSeconds = 240;
/** What a pace of 1 stands for. */
const jobsPerSecondOfPace = 10_000;

/** The number of jobs that a system gets at a point. */
export function jobsAt({ jobs, paced }: Point, { pace }: Pick<System, "pace">, scale: number): number {
  const factor = paced === "none" ? 1 : paced === "slow" ? Math.min(1, pace) : pace;
  return Math.max(1, Math.round(jobs * factor * scale));
}

/** Who goes first changes with every round, so that a drift of the machine hits all alike. */
export function inTurn<T>(contenders: readonly T[], round: number): T[] {
  return round % 2 === 0 ? [...contenders] : [...contenders].reverse();
}

export interface Comparison {
  readonly part: string;
  readonly points: readonly Point[];
  readonly systems: readonly System[];
  readonly around?: Surroundings;
  readonly repetitions: number;
  /** What the jobs should have left behind, beside their marks: what is amiss, undefined when all is well. */
  readonly check?: (place: Place, contender: Contender) => string | undefined;
}

/** Runs each system at each point, in turn, as often as asked for. */
export async function compare(bench: Bench, comparison: Comparison): Promise<void> {
  const rounds = comparison.points.map((point) => contendersAt(bench, comparison, point));
  bench.expect(rounds.flat().length * comparison.repetitions);
  for (const contenders of rounds) {
    for (let round = 0; round < comparison.repetitions; round++) {
      for (const contender of inTurn(contenders, round)) {
        const measured = await oneRun(bench, comparison, contender);
        bench.record({ ...subjectOf(comparison.part, contender), repetition: round + 1, ...measured });
      }
    }
  }
}

function oneRun(bench: Bench, { around = {}, check }: Comparison, contender: Contender): Promise<Measured> {
  return inFreshPlace(contender.system, bench.redis, async (place) => {
    const measured = await measuredRun({ contender, place, redis: bench.redis, around });
    const amiss = measured.problem === undefined ? check?.(place, contender) : undefined;
    return amiss === undefined ? measured : { ...measured, problem: amiss };
  });
}

function contendersAt(bench: Bench, { part, systems }: Comparison, point: Point): Contender[] {
  const { workload, concurrency } = point;
  return systems
    .filter((system) => system.supports(workload))
    .flatMap((system) => {
      const jobs = jobsAt(point, system, bench.options.scale);
      const shapes = system.shapes(concurrency);
      const seconds = jobs / (jobsPerSecondOfPace * system.pace);
      if (seconds <= longestSeconds) return shapes.map((shape) => ({ system, shape, workload, jobs }));
      bench.note(
        `${part}: ${system.name} is left out at ${jobs} jobs, which would take it about ${Math.round(seconds)} s a run`,
      );
      return [];
    });
}

export function subjectOf(part: string, { system, shape, workload, jobs }: Contender): Subject {
  return {
    ...{ part, workload, system: system.name, variant: shape.variant, shape: shape.text },
    ...{ workers: shape.workers, concurrency: shape.workers * shape.slots, jobs },
  };
}
