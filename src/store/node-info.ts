import type { NodeRecord, NodeSighting, RunningJob } from "./store.ts";

/** The `info` field of a node's hash, in the family's words; the last four are ours. */
export function nodeInfoJson(node: NodeRecord): string {
  return JSON.stringify({
    hostname: node.hostname,
    pid: node.pid,
    started_at: node.startedAt,
    channels: node.channels,
    labels: node.labels,
    identity: node.identity,
    ttl: node.ttl,
    boot_id: node.bootId,
    pid_ns: node.pidNamespace,
    pid_started: node.pidStarted,
  });
}

/** What a recoverer can know of a node; nothing but its identity where `info` is missing or unreadable. */
export function sightingFrom(identity: string, info: unknown): NodeSighting {
  const record = parsed(info);
  const text = (name: string) =>
    typeof record[name] === "string" && record[name] !== "" ? record[name] : undefined;
  const bootId = text("boot_id");
  const pidNamespace = text("pid_ns");
  const pidStarted = text("pid_started");
  const pid = record["pid"];
  return {
    identity,
    ...(bootId === undefined ? {} : { bootId }),
    ...(pidNamespace === undefined ? {} : { pidNamespace }),
    ...(pidStarted === undefined ? {} : { pidStarted }),
    ...(typeof pid === "number" ? { pid } : {}),
  };
}

function parsed(info: unknown): Record<string, unknown> {
  if (typeof info !== "string") return {};
  try {
    const value: unknown = JSON.parse(info);
    return typeof value === "object" && value !== null ? (value as Record<string, unknown>) : {};
  } catch {
    return {};
  }
}

/** What a worker shows of a running job, as the family's `work` hash holds it. */
export function runningJson({ channel, envelopeJson, startedAtMs, token, attempt }: RunningJob): string {
  const started = startedAtMs / 1000;
  return `{"channel":${JSON.stringify(channel)},"envelope":${envelopeJson},"started_at":${started},"claim_token":"${token}","attempt":${attempt}}`;
}
