import type { ChannelView, ClaimHolder, ClaimView, NodeView, StoredEntry } from "../catalog-store.ts";
import { numberIn, queuedMsOf, recordFrom, textIn, textsIn } from "../entry-reading.ts";
import { isProvenDead, type LivenessProof } from "../liveness.ts";
import { sightingFrom } from "../node-info.ts";
import { storedEntry } from "./catalog-entries.ts";
import type { CatalogStatements, ChannelRow, ClaimRow, NodeRow, StrayRow } from "./catalog-statements.ts";
import { textOf } from "./head.ts";

/** An envelope of another layout is read whole for the time it was queued, unless it is larger than this. */
const foreignBytes = 65_536;

export function channelView(
  statements: CatalogStatements,
  { id, name, paused }: ChannelRow,
  now: number,
): ChannelView {
  const queuedMs = queuedMsOfNext(statements, id);
  return {
    name,
    size: statements.countReady.get(id)?.n ?? 0,
    waitingSeconds: queuedMs === undefined ? 0 : Math.max(0, now - queuedMs / 1000),
    isPaused: paused === 1,
    problem: undefined,
  };
}

function queuedMsOfNext(statements: CatalogStatements, channel: number): number | undefined {
  const next = statements.nextJob.get(channel);
  if (next === null) return undefined;
  const known = queuedMsOf(textOf(next.head));
  if (known !== undefined || next.bytes > foreignBytes) return known;
  return queuedMsOf(textOf(statements.contents.ready.payload.get(channel, next.seq)?.payload ?? ""));
}

/** Liveness by proof only: a node of this file is on this machine, and a laptop sleeps. */
export function nodeView(row: NodeRow, own: LivenessProof, now: number): NodeView {
  const info = recordFrom(row.info);
  const sighting = sightingFrom(row.identity, row.info);
  const isOfEarlierBoot =
    own.bootId !== "" && sighting.bootId !== undefined && sighting.bootId !== own.bootId;
  return {
    identity: row.identity,
    hostname: textIn(info, "hostname"),
    pid: numberIn(info, "pid"),
    startedAt: numberIn(info, "started_at"),
    channels: textsIn(info, "channels"),
    labels: textsIn(info, "labels"),
    concurrency: row.concurrency,
    busy: row.busy,
    isQuiet: row.quiet === 1,
    // A beat in the future counts as now.
    beatAgeSeconds: Math.max(0, now - row.beat),
    isLive: row.dead === null && !isOfEarlierBoot && !isProvenDead(sighting, own),
    problem: Object.keys(info).length === 0 ? "its info is not a JSON object" : undefined,
  };
}

export function claimView(statements: CatalogStatements, node: string, row: ClaimRow): ClaimView {
  const { key, id, bytes, channel } = row;
  return {
    node,
    holder: holderName(row),
    record: {
      jobId: id,
      token: row.token,
      channel: channel ?? undefined,
      claimedAt: row.claimed_at,
      attempt: row.attempt,
    },
    problem: undefined,
    payloads: bytes === null ? 0 : 1,
    entry: bytes === null ? undefined : heldEntry(statements, { key, id, bytes }),
  };
}

function heldEntry(statements: CatalogStatements, { key, id, bytes }: StrayRow): StoredEntry {
  return storedEntry(statements, { seq: key, at: 0, id, bytes }, { from: "claims" });
}

export function holderName({ executor, slot }: { executor: string; slot: number }): string {
  return `${executor}.${slot}`;
}

export function holderParts(holder: string): { executor: string; slot: number } | undefined {
  const [, executor, slot] = /^(.*)\.(\d{1,9})$/s.exec(holder) ?? [];
  return executor === undefined ? undefined : { executor, slot: Number(slot) };
}

/** The owner of claims that belong to no executor. */
const nobody = "nobody";

export function strayHolder({ key }: { readonly key: number }): ClaimHolder {
  return { node: nobody, holder: `row ${key}` };
}

/** The key of the row that a `strayHolder` names. */
export function strayKey({ node, holder }: ClaimHolder): number | undefined {
  const [, key] = (node === nobody && /^row (\d{1,15})$/.exec(holder)) || [];
  return key === undefined ? undefined : Number(key);
}

/** A claim of nobody; undefined when it is no longer one. */
export function strayView(statements: CatalogStatements, key: number): ClaimView | undefined {
  const row = statements.stray.get(key);
  if (row === null) return undefined;
  const entry = heldEntry(statements, row);
  return { ...strayHolder(row), record: undefined, problem: undefined, payloads: 1, entry };
}
