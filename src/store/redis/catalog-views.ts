import type { ChannelView, ClaimHolder, ClaimRecord, ClaimView, NodeView } from "../catalog-store.ts";
import { numberIn, queuedMsOf, recordFrom, textIn, textsIn } from "../entry-reading.ts";
import { entryFrom } from "./catalog-entries.ts";

/** Seconds; for a node that declares no ttl and whose hash does not expire (as in `recover.lua`). */
const familyTtlSeconds = 60;

/** A row of `catalog-channels.lua`. */
export type ChannelRow = [kind: string, size: number, isPaused: number, isKnown: number, text: string];

export function channelView(
  name: string,
  [kind, size, isPaused, , text]: ChannelRow,
  nowMs: number,
): ChannelView {
  const queuedMs = size === 0 ? undefined : queuedMsOf(text);
  const isUsable = kind === "none" || kind === "list";
  return {
    name,
    size,
    waitingSeconds: queuedMs === undefined ? 0 : Math.max(0, (nowMs - queuedMs) / 1000),
    isPaused: isPaused === 1,
    problem: isUsable ? undefined : `its key must be a list, it is a ${kind}; rename or delete that key`,
  };
}

/** A row of `catalog-nodes.lua`. */
export type NodeRow = [
  kind: string,
  info: string,
  beat: string,
  busy: string,
  quiet: string,
  concurrency: string,
  dead: string,
  expiresInMs: number,
];

export function nodeView(identity: string, row: NodeRow, nowSeconds: number): NodeView {
  const [kind, infoText, beatText, busy, quiet, concurrency] = row;
  const info = recordFrom(infoText);
  const beat = beatText === "" ? Number.NaN : Number(beatText);
  // A beat in the future counts as now.
  const beatAgeSeconds = Number.isNaN(beat) ? undefined : Math.max(0, nowSeconds - beat);
  return {
    identity,
    hostname: textIn(info, "hostname"),
    pid: numberIn(info, "pid"),
    startedAt: numberIn(info, "started_at"),
    channels: textsIn(info, "channels"),
    labels: textsIn(info, "labels"),
    concurrency: concurrency === "" ? undefined : Number(concurrency),
    busy: Number(busy) || 0,
    isQuiet: quiet === "true",
    beatAgeSeconds,
    isLive: kind === "hash" && isLive(row, info, beatAgeSeconds),
    problem: nodeProblem(kind, infoText, info, beatText, beatAgeSeconds),
  };
}

function isLive(row: NodeRow, info: Record<string, unknown>, beatAgeSeconds: number | undefined): boolean {
  const [, , , , , , dead, expiresInMs] = row;
  if (dead !== "" || beatAgeSeconds === undefined) return false;
  const ttl = numberIn(info, "ttl");
  if (ttl === undefined && expiresInMs >= 0) return true;
  return beatAgeSeconds <= (ttl ?? familyTtlSeconds);
}

function nodeProblem(
  kind: string,
  infoText: string,
  info: Record<string, unknown>,
  beatText: string,
  beatAgeSeconds: number | undefined,
): string | undefined {
  if (kind === "none")
    return "it is named as a node, but has no record: it ended without leaving, or its record expired";
  if (kind !== "hash") return `its record must be a hash, it is a ${kind}; rename or delete that key`;
  if (beatText === "") return "its record has no beat";
  if (beatAgeSeconds === undefined)
    return `its beat must be a number of seconds, it is "${beatText.slice(0, 40)}"`;
  if (infoText === "") return "its record has no info";
  return Object.keys(info).length === 0 ? "its info is not a JSON object" : undefined;
}

/** A row of `catalog-claims.lua`. */
export type ClaimRow = [
  hasRecord: number,
  record: string,
  listKind: string,
  payloads: number,
  digest: string,
  bytes: number,
  text: string,
  isWhole: number,
];

/** Undefined when there is neither a claim nor a payload. */
export function claimView(reference: ClaimHolder, row: ClaimRow): ClaimView | undefined {
  const [hasRecord, recordText, listKind, payloads, digest, bytes, text, isWhole] = row;
  if (hasRecord === 0 && listKind === "none") return undefined;
  const isUsable = listKind === "none" || listKind === "list";
  const record = hasRecord === 1 ? claimRecord(recordText) : undefined;
  const unreadable = hasRecord === 1 && record === undefined ? "the claim is not a JSON object" : undefined;
  return {
    ...reference,
    record,
    problem: isUsable ? unreadable : `the key of its payload must be a list, it is a ${listKind}`,
    payloads,
    entry:
      listKind === "list"
        ? entryFrom({ digest, bytes, id: "", channel: "", text, isWhole: isWhole === 1, score: "", place: 0 })
        : undefined,
  };
}

function claimRecord(text: string): ClaimRecord | undefined {
  const record = recordFrom(text);
  if (Object.keys(record).length === 0) return undefined;
  return {
    jobId: textIn(record, "task_id"),
    token: textIn(record, "claim_token"),
    channel: textIn(record, "channel"),
    claimedAt: numberIn(record, "claimed_at"),
    attempt: numberIn(record, "attempt"),
  };
}
