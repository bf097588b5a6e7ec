import type { Logger } from "../../instrumentation/logger.ts";
import { isProvenDead, type LivenessProof } from "../../store/liveness.ts";
import type { NodeSighting, Orphan, RecoverReply, RecoverRequest, Store } from "../../store/store.ts";
import { Duty } from "./duty.ts";

/** Dead processes of this machine are looked for this often; it costs one small read of each node. */
const intervalMs = 1000;
/** Nodes of other machines are asked after this often. */
const byAgeIntervalMs = 5000;
/** The whole store is scanned for claims without a node this often, and at boot. */
const orphanIntervalMs = 60_000;

export interface RecovererOptions {
  readonly store: Store;
  readonly node: string;
  readonly proof: LivenessProof;
  readonly logger: Logger;
  readonly onRecovered: (jobs: RecoverReply["recovered"]) => void;
}

/**
 * Takes the jobs of dead nodes back. Whether a node is dead is decided in the store, inside the call that
 * marks it; only proof that a process of this machine is gone is brought along.
 */
export class Recoverer {
  private readonly options: RecovererOptions;
  private readonly duty: Duty;
  private judgedByAgeAt = Number.NEGATIVE_INFINITY;
  /** Each is told once. */
  private readonly stuck = new Set<string>();
  private scannedAt = Number.NEGATIVE_INFINITY;

  constructor(options: RecovererOptions) {
    this.options = options;
    this.duty = new Duty("recovery", options.logger, (signal) => this.round(signal));
  }

  stop(): Promise<void> {
    return this.duty.stop();
  }

  private async round(signal: AbortSignal): Promise<number> {
    const now = performance.now();
    const isAgeDue = now - this.judgedByAgeAt >= byAgeIntervalMs;
    await this.judgeNodes(isAgeDue, signal);
    if (isAgeDue) this.judgedByAgeAt = now;
    if (now - this.scannedAt >= orphanIntervalMs) {
      await this.judgeOrphans(signal);
      this.scannedAt = now;
    }
    return intervalMs;
  }

  private async judgeNodes(isAgeDue: boolean, signal: AbortSignal): Promise<void> {
    const { store, node: own, proof } = this.options;
    let cursor: string | undefined;
    do {
      const page: { nodes: readonly NodeSighting[]; cursor: string | undefined } =
        await store.sightNodes(cursor);
      for (const node of page.nodes) {
        if (node.identity === own || signal.aborted) continue;
        const isProven = isProvenDead(node, proof);
        if (isProven || isAgeDue)
          await this.recover({ identity: node.identity, judge: own, isProven }, signal);
      }
      cursor = page.cursor;
    } while (cursor !== undefined && !signal.aborted);
  }

  private async judgeOrphans(signal: AbortSignal): Promise<void> {
    const { store, node: own } = this.options;
    let cursor: string | undefined;
    do {
      const page: { orphans: readonly Orphan[]; cursor: string | undefined } =
        await store.sightOrphans(cursor);
      for (const { identity, executors } of page.orphans) {
        if (identity === own) continue;
        await this.recover({ identity, executors, judge: own, isProven: false }, signal);
      }
      cursor = page.cursor;
    } while (cursor !== undefined && !signal.aborted);
  }

  private async recover(request: RecoverRequest, signal: AbortSignal): Promise<void> {
    const { store, logger, onRecovered } = this.options;
    let requeued = 0;
    for (;;) {
      const reply = await store.recover(request);
      if (reply.recovered.length > 0) onRecovered(reply.recovered);
      requeued += reply.recovered.length;
      if (reply.state === "stuck" && !this.stuck.has(request.identity)) {
        this.stuck.add(request.identity);
        logger.error("jobs of a dead node cannot be put back: their channel's key is no list", {
          node: request.identity,
        });
      }
      if (reply.state === "done") {
        this.stuck.delete(request.identity);
        logger.warn("recovered a dead node", {
          node: request.identity,
          jobs: requeued,
          proof: request.isProven,
        });
      }
      if (reply.state !== "more" || signal.aborted) return;
    }
  }
}
