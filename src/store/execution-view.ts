import type { ExecutionView } from "./catalog-store.ts";
import { numberIn, recordFrom, textIn } from "./entry-reading.ts";

/** What a worker shows of a running job (`runningJson`, or the Ruby member's record of it). */
export function executionView(node: string, executor: string, text: string): ExecutionView {
  const record = recordFrom(text);
  const stored = record.envelope;
  const envelope = recordFrom(typeof stored === "string" ? stored : JSON.stringify(stored ?? {}));
  return {
    node,
    executor,
    jobId: textIn(envelope, "id"),
    task: textIn(envelope, "task"),
    channel: textIn(record, "channel") ?? textIn(envelope, "channel"),
    startedAt: numberIn(record, "started_at"),
    attempt: numberIn(record, "attempt"),
    problem: Object.keys(record).length === 0 ? "its record is not a JSON object" : undefined,
  };
}
