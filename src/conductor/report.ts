import type { LogFields } from "../instrumentation/logger.ts";
import type { Node } from "./node.ts";

/** What a node's workers do now, read from the board: also of workers that spin or are silent. */
export function nodeReport(node: Node): { message: string; fields: LogFields }[] {
  const now = Date.now();
  const { board, slots } = node;
  const lines = [
    {
      message: "node",
      fields: {
        node: node.identity,
        workers: board.workers,
        slots,
        busy: board.busy,
      } as LogFields,
    },
  ];
  for (let worker = 0; worker < board.workers; worker++) {
    const jobs = board.jobs(worker);
    const holding = board.holdingSlot(worker);
    if (jobs.length === 0) lines.push({ message: "worker", fields: { worker, state: "idle" } });
    for (const { slot, id, startedAtMs, deadlineMs } of jobs) {
      const state = slot === holding ? "running code" : "awaiting";
      const deadline = deadlineMs === 0 ? {} : { ends_in_s: Math.round((deadlineMs - now) / 1000) };
      lines.push({
        message: "worker",
        fields: { worker, slot, job: id, age_s: (now - startedAtMs) / 1000, state, ...deadline },
      });
    }
  }
  return lines;
}
