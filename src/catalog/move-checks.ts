import { SolidJobsError } from "../foundation/errors.ts";
import type { CatalogStore } from "../store/catalog-store.ts";
import type { TransferStore } from "../store/transfer-store.ts";
import { itemsOf, pagesOf } from "./pages.ts";

/** One of the two stores of a move. */
export interface MoveEnd {
  readonly catalog: CatalogStore;
  readonly transfer: TransferStore;
}

/** A move that must not be, or that cannot be finished now. What was copied stays known to the next run. */
export function moveRefused(message: string): SolidJobsError {
  return new SolidJobsError("MOVE_REFUSED", message);
}

/** @throws SolidJobsError `MOVE_REFUSED` when both ends are the same store, perhaps under two names */
export async function refuseSameStore(from: MoveEnd, to: MoveEnd, journal: string): Promise<void> {
  const probe = crypto.randomUUID();
  await to.transfer.setNote(journal, "probe", probe);
  const seen = await from.transfer.note(journal, "probe");
  await to.transfer.setNote(journal, "probe", undefined);
  if (seen !== probe) return;
  throw moveRefused(
    `expected two stores, ${from.transfer.identity} and ${to.transfer.identity} are the same one`,
  );
}

/** @throws SolidJobsError `MOVE_REFUSED` when a node lives in a store, or jobs are held in the one they are to leave */
export async function refuseBusyStores(from: MoveEnd, to: MoveEnd): Promise<void> {
  for (const { catalog } of [from, to]) await refuseLiveNodes(catalog);
  await refuseClaims(from.catalog);
}

async function refuseLiveNodes(catalog: CatalogStore): Promise<void> {
  for await (const { identity, isLive } of itemsOf((cursor) => catalog.nodes(cursor))) {
    if (!isLive) continue;
    throw moveRefused(
      `the node ${identity} works on ${catalog.address}: stop all nodes of both stores before moving jobs`,
    );
  }
}

/** A job that is held is in no channel: it would be left behind, or run in both stores. */
async function refuseClaims(catalog: CatalogStore): Promise<void> {
  const holders = new Set<string>();
  const nodes = new Set<string>();
  for await (const page of pagesOf((cursor) => catalog.nodes(cursor))) {
    for (const { identity } of page) nodes.add(identity);
  }
  let cursor: string | undefined;
  do {
    const survey = await catalog.survey(cursor);
    for (const node of survey.nodes) nodes.add(node);
    for (const { node, holder } of survey.holders) holders.add(`${node} ${holder}`);
    cursor = survey.cursor;
  } while (cursor !== undefined);
  for (const node of nodes) {
    for await (const { holder } of itemsOf((from) => catalog.claims(node, from)))
      holders.add(`${node} ${holder}`);
  }
  const [first] = holders;
  if (first === undefined) return;
  throw moveRefused(
    `${holders.size} claims of jobs are left in ${catalog.address}, such as that of ${first}: start a node on it ` +
      "and stop it again when it has recovered them (solid-jobs -r <modules> --url <the store>), then move",
  );
}
