import type { SiteEngine } from "../support/site.ts";
import type { Fault, StoreNeeds } from "./fault.ts";
import { Random } from "./random.ts";
import { type SeatSetup, seatSetups } from "./world/fleet.ts";

export interface PlanOptions {
  readonly seed: number;
  readonly engine: SiteEngine;
  readonly jobs: number;
  /** To draw from; those that this machine cannot do are left out. */
  readonly faults: readonly Fault[];
  /** Faults to be done; by chance from 1 to 4 without it. */
  readonly strikes?: number | undefined;
}

/** What one run does. It follows from its options alone; when exactly things happen does not. */
export interface RunPlan {
  readonly seed: number;
  readonly engine: SiteEngine;
  readonly jobs: number;
  readonly needs: StoreNeeds;
  readonly seats: readonly SeatSetup[];
  /** Done one round after the other; the faults of a round at the same time. */
  readonly rounds: readonly (readonly Fault[])[];
  /** Over which the publisher spreads its jobs. */
  readonly overMs: number;
  /** For what is drawn while it runs. */
  readonly random: Random;
}

const usualWeight = 10;

/** @throws Error when no fault is left to do */
export function planRun({ seed, engine, jobs, faults, strikes }: PlanOptions): RunPlan {
  const random = new Random(seed);
  const possible = faults.filter((fault) => fault.engines.includes(engine) && isPossible(fault));
  const chosen = draw(possible, strikes ?? random.int(1, 4), random);
  const takesMs = chosen.reduce((sum, fault) => sum + fault.takesMs, 0);
  return {
    seed,
    engine,
    jobs,
    needs: Object.assign({}, ...chosen.map((fault) => fault.needs ?? {})) as StoreNeeds,
    seats: seatSetups(random),
    rounds: grouped(chosen, random),
    overMs: Math.max(500, Math.min(takesMs, 15_000)),
    random: random.fork(),
  };
}

/** What a machine can do does not change while this runs, and finding out takes a while. */
const known = new Map<Fault, boolean>();

function isPossible(fault: Fault): boolean {
  const answer = known.get(fault) ?? fault.reasonAgainst?.() === undefined;
  known.set(fault, answer);
  return answer;
}

/** A third of the runs do one fault again and again, the others mix. */
function draw(possible: readonly Fault[], count: number, random: Random): Fault[] {
  const weighted = possible.map((fault) => ({ fault, weight: fault.weight ?? usualWeight }));
  const { fault: first } = random.weighted(weighted);
  const isAlone = random.chance(1 / 3);
  const chosen = [first];
  while (chosen.length < count) {
    const fitting = weighted.filter(({ fault }) => goesWith(fault, chosen) && (!isAlone || fault === first));
    if (fitting.length === 0) break;
    chosen.push(random.weighted(fitting).fault);
  }
  return chosen;
}

function goesWith(fault: Fault, chosen: readonly Fault[]): boolean {
  if (fault.once !== undefined && chosen.some(({ once }) => once === fault.once)) return false;
  const wanted = Object.entries(fault.needs ?? {});
  return chosen.every(({ needs = {} }) =>
    wanted.every(([need, value]) => {
      const other = (needs as Record<string, unknown>)[need];
      return other === undefined || other === value;
    }),
  );
}

/** At times two of them at once. */
function grouped(chosen: readonly Fault[], random: Random): Fault[][] {
  const rounds: Fault[][] = [];
  for (const fault of chosen) {
    const [other, third] = rounds.at(-1) ?? [];
    const isFitting = other !== undefined && other !== fault && third === undefined && !clash(fault, other);
    if (isFitting && random.chance(0.3)) rounds.at(-1)?.push(fault);
    else rounds.push([fault]);
  }
  return rounds;
}

function clash(one: Fault, other: Fault): boolean {
  return one.alone !== undefined && one.alone === other.alone;
}
