import type { Settings } from "../config/settings.ts";
import { decodeEnvelope, type Revision, reviseBytes } from "../envelope/codec.ts";
import { undecodableEnvelope } from "../envelope/undecodable.ts";
import { backoffSeconds } from "../failure/backoff.ts";
import { failureOutcome } from "../failure/outcome.ts";
import { toError } from "../foundation/errors.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { Executor, Settlement, SettlementOutcome, Store, StoredClaim } from "../store/store.ts";

/** A job as the board showed it: its id may be cut at the end. */
export interface Culprit {
  readonly slot: number;
  readonly id: string;
}

export interface DeadWorker {
  readonly executor: Executor;
  /** What ended it, for the jobs that did. */
  readonly error: Error;
  /** The jobs that are known to have ended it; undefined when that is not known. */
  readonly culprits: readonly Culprit[] | undefined;
  /** The slots whose jobs ran at that moment. */
  readonly running: readonly number[];
  /** The tokens of the claims that were not begun. */
  readonly unbegun: readonly string[];
  /** The conductor ended the thread for its culprits: the other jobs are not even suspects. */
  readonly wasEnded: boolean;
}

/**
 * Settles what a dead worker held, by token, after its generation was taken away. Its tasks' own callbacks
 * are in no thread any more, so the default backoff, or the archive, is what a culprit gets:
 *
 * - a job that is known to have ended the thread, or was alone in it: a failure as any other;
 * - when the thread died and several jobs ran, each may have been the cause: tried again after the first
 *   backoff, a crash counted, no failure counted, never archived;
 * - when the conductor ended the thread for a culprit, the others go back to their channels uncounted;
 * - so do jobs that are no suspects: those reserved ahead, and those that had ended while others ran. Where none ran,
 *   those that had ended are the suspects: one may have left something behind that ended the thread;
 * - so do a suspect that still waited to be alone, and one that ran alone: the latter is poison from now on, and
 *   the worker that gets it next archives it, with its task's callbacks.
 *
 * @returns how many were settled
 */
export async function settleDeadWorker(
  dead: DeadWorker,
  { store, settings, logger }: { store: Store; settings: Settings; logger: Logger },
): Promise<number> {
  const { node, executor } = dead.executor;
  const { running, unbegun, wasEnded } = dead;
  const named = running.length > 0 ? { running } : { spared: unbegun };
  const claims = await store.revoke(node, executor, { isCrash: !wasEnded, ...named });
  const suspects = claims
    .filter(({ standing }) => standing === undefined || (standing === "alone" && wasEnded))
    .filter(({ slot, token }) => (running.length > 0 ? running.includes(slot) : !unbegun.includes(token)));
  const settlements: Settlement[] = [];
  const nothing = { executor: dead.executor, settlements, slots: [], channels: [] };
  const nowMs = claims.length === 0 ? 0 : (await store.cycle(nothing)).nowMs; // failures go by the store's clock
  for (const claim of claims) {
    const outcome = await settlementOf(claim, { ...dead, suspects }, { store, settings, nowMs });
    const { slot, token, jobId } = claim;
    settlements.push({ slot, token, jobId, ...outcome });
    if (suspects.includes(claim))
      logger.warn("a job's thread died", { job: jobId, outcome: outcome.outcome, error: dead.error });
    else if (claim.standing === "alone")
      logger.error("a suspect's thread died while it ran alone: it is poison", { job: jobId });
  }
  if (settlements.length > 0) {
    const reply = await store.cycle({ executor: dead.executor, settlements, slots: [], channels: [] });
    for (const { settlement, reason } of reply.blocked) {
      logger.error(`a job cannot be settled and is kept: ${reason}`, { job: settlement.jobId });
    }
  }
  await store.showRunning(dead.executor, []);
  return settlements.length;
}

async function settlementOf(
  claim: StoredClaim,
  dead: DeadWorker & { readonly suspects: readonly StoredClaim[] },
  { store, settings, nowMs }: { store: Store; settings: Settings; nowMs: number },
): Promise<SettlementOutcome> {
  if (!dead.suspects.includes(claim)) return { outcome: "requeue" };
  const isCulprit =
    dead.culprits?.some(({ slot, id }) => slot === claim.slot && claim.jobId.startsWith(id)) ??
    dead.suspects.length === 1;
  if (!isCulprit && dead.wasEnded) return { outcome: "requeue" };
  const bytes = await store.claimedBytes(dead.executor, claim);
  if (bytes === undefined) return { outcome: "requeue" };
  if (isCulprit) return failed(bytes, claim, dead.error, { settings, nowMs });
  return { outcome: "retry", delaySeconds: backoffSeconds(1, settings), payload: bytes };
}

function failed(
  bytes: Uint8Array,
  claim: StoredClaim,
  error: Error,
  { settings, nowMs }: { settings: Settings; nowMs: number },
): SettlementOutcome {
  try {
    const envelope = decodeEnvelope(new TextDecoder().decode(bytes));
    const outcome = failureOutcome(envelope, error, { decision: undefined, nowMs, backoff: settings });
    if (outcome.kind === "drop") return { outcome: "drop" };
    const payload = reviseBytes(bytes, outcome.revision satisfies Revision);
    if (outcome.kind === "archive") return { outcome: "archive", payload };
    return { outcome: "retry", delaySeconds: outcome.delaySeconds, payload };
  } catch (thrown) {
    const payload = undecodableEnvelope(bytes, { channel: claim.channel, error: toError(thrown), nowMs });
    return { outcome: "archive", payload };
  }
}
