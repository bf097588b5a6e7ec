import type { SiteEngine } from "../support/site.ts";
import type { Random } from "./random.ts";
import type { World } from "./world/world.ts";

/** What a fault needs of the store it is done to. Faults that need different things are never mixed. */
export interface StoreNeeds {
  readonly appendOnly?: "always" | "everysec";
  readonly hasReplica?: boolean;
  readonly hasSmallDisk?: boolean;
}

/** One way to break a running fleet. To add one, add it to a list in `faults/`. */
export interface Fault {
  /** As `--faults` takes it. */
  readonly name: string;
  /** What is done, in one line. */
  readonly does: string;
  readonly engines: readonly SiteEngine[];
  /** How long it takes about, so that jobs are published meanwhile. */
  readonly takesMs: number;
  /** Its share of mixtures; default 10. */
  readonly weight?: number;
  readonly needs?: StoreNeeds;
  /** It is done once in a run at most, and with it none of the same word. */
  readonly once?: string;
  /** Of faults with the same word one is done at a time. */
  readonly alone?: string;
  /** Where it is no reason for any job to run again. */
  readonly harmlessOn?: readonly SiteEngine[];
  /** Why this machine cannot do it, or undefined. */
  readonly reasonAgainst?: () => string | undefined;
  /** Does it, to work that runs, and undoes it. */
  strike(world: World, random: Random): Promise<void>;
}

/** How long after a fault its consequences may show: a command's deadline of 5 s and what follows. */
export const aftermathMs = 8000;
