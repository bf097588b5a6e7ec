import type { Random } from "../random.ts";
import type { Work } from "./noting.ts";

/** What becomes of a job in the end. */
export type Ending = "done" | "archived";

/** A kind of job: the task it runs, what it is told, and how it must end. */
export interface JobKind {
  readonly name: string;
  /** The class in `tasks.ts`. */
  readonly task: string;
  /** Its share of what publishers publish; 0: only faults publish it. */
  readonly weight: number;
  readonly ending: Ending;
  readonly work?: (random: Random) => Partial<Work>;
}

const brief = (random: Random) => ({ ms: random.int(1, 50) });

/** To add a kind, add its line here and its task in `tasks.ts`. */
export const jobKinds: readonly JobKind[] = [
  { name: "sleeping", task: "Sleeping", weight: 60, ending: "done" },
  {
    name: "burning",
    task: "Burning",
    weight: 20,
    ending: "done",
    work: (random) => ({ ms: random.int(1, 20) }),
  },
  // So short that workers look ahead: publishers publish bursts of them.
  { name: "instant", task: "Burning", weight: 0, ending: "done", work: () => ({ ms: 0 }) },
  {
    name: "failing",
    task: "Failing",
    weight: 14,
    ending: "done",
    work: (random) => ({ ...brief(random), failures: random.int(1, 2) }),
  },
  { name: "doomed", task: "Doomed", weight: 6, ending: "archived" },
  {
    name: "long",
    task: "Sleeping",
    weight: 0,
    ending: "done",
    work: (random) => ({ ms: random.int(2000, 4000) }),
  },
  { name: "process-exit", task: "Exiting", weight: 0, ending: "done" },
  { name: "thread-crash", task: "Crashing", weight: 0, ending: "done" },
  { name: "uncaught-error", task: "Straying", weight: 0, ending: "done" },
  { name: "unhandled-rejection", task: "Rejecting", weight: 0, ending: "done" },
  { name: "endless-loop", task: "Spinning", weight: 0, ending: "done" },
  { name: "memory-hog", task: "Hogging", weight: 0, ending: "done" },
  { name: "process-abort", task: "Aborting", weight: 0, ending: "done" },
  { name: "poison", task: "Poisonous", weight: 0, ending: "archived" },
];

/** @throws Error for a name that no kind has */
export function kindNamed(name: string): JobKind {
  const found = jobKinds.find((kind) => kind.name === name);
  if (found === undefined) throw new Error(`expected a kind of job, got "${name}"`);
  return found;
}

/** A job of a kind: its key tells the kind, so that the ledger's reader knows what must become of it. */
export function workOf(kind: JobKind, number: string, random: Random): Work {
  return { ...brief(random), ...kind.work?.(random), key: `${kind.name}/${number}` };
}

export function kindOf(key: string): JobKind {
  return kindNamed(key.slice(0, key.indexOf("/")));
}
