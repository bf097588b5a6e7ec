import type { ClaimHolder, EntryPlace } from "../store/catalog-store.ts";

/** `lost`: expected, and neither stored nor acked. */
export type JobState = "ready" | "planned" | "retrying" | "discarded" | "claimed" | "acked" | "lost";

export interface OrphanedPayload extends ClaimHolder {
  readonly jobId: string | undefined;
}

export interface InvalidClaim extends ClaimHolder {
  readonly jobId: string | undefined;
  readonly fault: ClaimFault;
}

export type ClaimFault =
  | "claim without an envelope"
  | "envelope without a claim"
  | "claim without a token"
  | "claim that cannot be read"
  | "claim of another job";

export interface DuplicateJob {
  readonly id: string;
  readonly places: readonly EntryPlace[];
}

export interface MalformedEntry {
  readonly place: EntryPlace;
  readonly problem: string;
  /** Where it has one. */
  readonly id: string | undefined;
}

export interface IntegrityReport {
  /** The state of every id that was expected, acked or met. An acked job that is stored again is stored. */
  readonly states: ReadonlyMap<string, JobState>;
  readonly counts: Readonly<Record<JobState, number>>;
  readonly lost: readonly string[];
  /** Payloads held by no live node: recovery will take them back. */
  readonly orphaned: readonly OrphanedPayload[];
  readonly invalidClaims: readonly InvalidClaim[];
  /** Ids with a count of reservations that are stored nowhere. */
  readonly danglingAttempts: readonly string[];
  readonly duplicates: readonly DuplicateJob[];
  readonly malformed: readonly MalformedEntry[];
  /** Places that could not be read, with the reason: what they hold is missing from the rest of the report. */
  readonly broken: readonly { readonly place: string; readonly reason: string }[];
  /** None of the above. */
  readonly isSound: boolean;
}
