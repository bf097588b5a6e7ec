/** Where a store can hold a job. */
export type Place = "ready" | "planned" | "retrying" | "discarded" | "claimed";

/**
 * One step of one job, as the store itself recorded it, apart from everything the runtime says of itself. A
 * step from `claimed` to `claimed` does not occur: it is two steps.
 */
export interface Step {
  readonly id: string;
  /** Undefined: it was not stored. */
  readonly from: Place | undefined;
  /** Undefined: it is no longer stored. */
  readonly to: Place | undefined;
  /** The claim that ends or begins with the step. */
  readonly token: string | undefined;
  /** Epoch ms: the step was done by then. Undefined where that is not known. */
  readonly doneBy: number | undefined;
}

/** What a store went through, in its order. */
export interface History {
  readonly steps: readonly Step[];
  /** Jobs that stood in more than one place at a time, with the places. */
  readonly doubled: readonly { readonly id: string; readonly places: readonly string[] }[];
}

/** Watches one store from before its first job. */
export interface Historian {
  /** Reads all of it; the store's processes may have died meanwhile. */
  read(): Promise<History>;
  close(): void;
}
