import { StoreError } from "../foundation/errors.ts";
import type { CatalogStore, ClaimView } from "../store/catalog-store.ts";
import type { ClaimFault, InvalidClaim, OrphanedPayload } from "./integrity-report.ts";
import { pagesOf } from "./pages.ts";

/** What is wrong with a claim, or undefined. */
export function claimFault(claim: ClaimView): ClaimFault | undefined {
  if (claim.payloads === 0) return "claim without an envelope";
  if (claim.record === undefined) {
    return claim.problem === undefined ? "envelope without a claim" : "claim that cannot be read";
  }
  if (claim.record.token === undefined) return "claim without a token";
  const [claimed, held] = [claim.record.jobId, claim.entry?.id];
  if (claimed !== undefined && held !== undefined && claimed !== held) return "claim of another job";
  return undefined;
}

/** Whether a node lives by now. Where the nodes cannot be read, which a walk reports, none is called dead. */
export async function liveness(
  store: CatalogStore,
  signal?: AbortSignal,
): Promise<(node: string) => boolean> {
  const live = new Set<string>();
  try {
    for await (const page of pagesOf((cursor) => store.nodes(cursor), signal)) {
      for (const { identity, isLive } of page) if (isLive) live.add(identity);
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    return () => true;
  }
  return (node) => live.has(node);
}

/**
 * Looks again at the claims that looked wrong, each at one moment: only what is still there with the same
 * fault is reported. A claim that was settled or recovered meanwhile is not.
 */
export async function confirmClaims(
  store: CatalogStore,
  suspects: readonly ClaimView[],
  signal?: AbortSignal,
): Promise<{ invalidClaims: InvalidClaim[]; orphaned: OrphanedPayload[] }> {
  const invalidClaims: InvalidClaim[] = [];
  const orphaned: OrphanedPayload[] = [];
  if (suspects.length === 0) return { invalidClaims, orphaned };
  const isLive = await liveness(store, signal);
  for (const suspect of suspects) {
    signal?.throwIfAborted();
    const { node, holder } = suspect;
    const claim = await store.claim({ node, holder });
    if (claim === undefined) continue;
    const jobId = claim.record?.jobId ?? claim.entry?.id;
    const fault = claimFault(claim);
    if (fault !== undefined && fault === claimFault(suspect))
      invalidClaims.push({ node, holder, jobId, fault });
    if (claim.payloads > 0 && !isLive(node)) orphaned.push({ node, holder, jobId: claim.entry?.id ?? jobId });
  }
  return { invalidClaims, orphaned };
}
