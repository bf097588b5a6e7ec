import { isEarlierSelf, ownProof } from "../store/liveness.ts";
import type { NodeSighting, Store } from "../store/store.ts";

/** The identities of this process's nodes that live; on `globalThis`, for two copies of the package. */
const slotKey = Symbol.for("solid-jobs.nodes");

function liveNodes(): Set<string> {
  const holder = globalThis as { [slotKey]?: Set<string> };
  holder[slotKey] ??= new Set();
  return holder[slotKey];
}

export function nodeLives(identity: string): void {
  liveNodes().add(identity);
}

export function nodeEnded(identity: string): void {
  liveNodes().delete(identity);
}

/**
 * Takes back what earlier incarnations of this very process left: `bun --watch` executes a program anew in
 * place, with the same pid and start time, so no other node can see that the former one is gone.
 */
export async function recoverEarlierSelves(store: Store, identity: string): Promise<void> {
  const proof = ownProof();
  let cursor: string | undefined;
  do {
    const page: { nodes: readonly NodeSighting[]; cursor: string | undefined } =
      await store.sightNodes(cursor);
    for (const node of page.nodes) {
      if (!isEarlierSelf(node, proof) || liveNodes().has(node.identity)) continue;
      const request = { identity: node.identity, judge: identity, isProven: true };
      while ((await store.recover(request)).state === "more");
    }
    cursor = page.cursor;
  } while (cursor !== undefined);
}
