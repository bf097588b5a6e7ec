import { readFileSync } from "node:fs";
import { StoreError } from "../../foundation/errors.ts";
import { nodeInfoJson, sightingFrom } from "../node-info.ts";
import type {
  BeatReply,
  ClaimReference,
  Executor,
  NodeRecord,
  NodeSighting,
  NodeSignal,
  Orphan,
  RecoverReply,
  RecoverRequest,
  StoredClaim,
} from "../store.ts";
import type { Engine } from "./engine.ts";
import type { FullClaimRow, NodeRow, Statements } from "./statements.ts";

const claimsPerStep = 100;
/** Seconds between two beats that count as a gap: two beats missed. */
const beatGapSeconds = 7;
const crashesKeptSeconds = 7 * 86_400;

/** Nodes, generations, and the way back of claims whose worker is gone. Liveness is by proof only. */
export class Nodes {
  private readonly engine: Engine;
  private readonly bootId = bootId();

  constructor(engine: Engine) {
    this.engine = engine;
  }

  register(node: NodeRecord): Promise<void> {
    return this.engine.write((statements, now) => {
      if (statements.node.get(node.identity) !== null) {
        throw new StoreError(
          `a node of the identity ${node.identity} is registered already; identities are never used again`,
        );
      }
      statements.addNode.run(node.identity, nodeInfoJson(node), now, now, node.concurrency);
    });
  }

  grant({ node, executor, generation }: Executor): Promise<boolean> {
    return this.engine.write((statements) => {
      if (!isAlive(statements.node.get(node))) return false;
      statements.setGeneration.run(node, executor, generation);
      return true;
    });
  }

  revoke(node: string, executor: string, isCrash: boolean): Promise<readonly StoredClaim[]> {
    return this.engine.write((statements, now) => {
      statements.deleteGeneration.run(node, executor);
      const claims = statements.claimsOfExecutor.all(node, executor);
      if (isCrash) for (const { id } of claims) statements.countCrash.get(id, now + crashesKeptSeconds);
      return claims.map(storedClaim);
    });
  }

  beat(identity: string, { busy, isQuiet }: { busy: number; isQuiet: boolean }): Promise<BeatReply> {
    return this.engine.write((statements, now) => {
      const node = statements.node.get(identity);
      const silent = node === null ? 0 : Math.max(0, now - node.beat);
      const nowMs = Math.floor(now * 1000);
      const silentMs = Math.floor(silent * 1000);
      if (node === null || !isAlive(node)) return { isAlive: false, steadyMs: 0, silentMs, nowMs };
      const hasGap = silent > beatGapSeconds || node.beating_since > now;
      const since = hasGap ? now : node.beating_since;
      statements.beat.run(now, since, busy, isQuiet ? 1 : 0, identity);
      statements.dropOldBarriers.run(now);
      statements.dropOldCrashes.run(now);
      return { isAlive: true, steadyMs: Math.floor((now - since) * 1000), silentMs, nowMs };
    });
  }

  takeSignals(identity: string): Promise<readonly NodeSignal[]> {
    return this.engine
      .read((statements) => statements.signals.all(identity).length > 0)
      .then((hasAny) => {
        if (!hasAny) return [];
        return this.engine.write((statements, now) => {
          const found = statements.signals.all(identity);
          for (const { seq } of found) statements.deleteSignal.run(seq);
          return found.filter(({ expires_at }) => expires_at > now).map(({ signal }) => signal as NodeSignal);
        });
      });
  }

  sight(): Promise<{ nodes: readonly NodeSighting[]; cursor: undefined }> {
    return this.engine.read((statements) => ({
      nodes: statements.nodes.all().map(({ identity, info }) => sightingFrom(identity, info)),
      cursor: undefined,
    }));
  }

  sightOrphans(): Promise<{ orphans: readonly Orphan[]; cursor: undefined }> {
    return this.engine.read((statements) => ({
      orphans: statements.claimOwners
        .all()
        .filter(({ node }) => statements.node.get(node) === null)
        .map(({ node }) => ({ identity: node, executors: [] })),
      cursor: undefined,
    }));
  }

  recover({ identity, isProven }: RecoverRequest): Promise<RecoverReply> {
    return this.engine.write((statements, now) => {
      const node = statements.node.get(identity);
      if (!isProven && !this.isDead(node)) return { state: "alive", recovered: [] };
      return this.takeBack(statements, identity, { now, isCrash: true });
    });
  }

  closeForReservations(identity: string): Promise<void> {
    return this.engine.write((statements) => {
      statements.deleteGenerations.run(identity);
    });
  }

  async leave(identity: string): Promise<{ requeued: number }> {
    let requeued = 0;
    for (;;) {
      const reply = await this.engine.write((statements, now) =>
        this.takeBack(statements, identity, { now, isCrash: false }),
      );
      requeued += reply.recovered.length;
      if (reply.state === "done") return { requeued };
    }
  }

  reconcile(
    { node, executor, generation }: Executor,
    newGeneration: string,
    known: readonly ClaimReference[],
  ): Promise<{ isCurrent: boolean; missing: readonly ClaimReference[]; requeued: number }> {
    return this.engine.write((statements) => {
      const present = statements.generation.get(node, executor)?.generation;
      if (present !== generation && present !== newGeneration)
        return { isCurrent: false, missing: [], requeued: 0 };
      statements.setGeneration.run(node, executor, newGeneration);
      const stored = statements.claimsOfExecutor.all(node, executor);
      const isKnown = (claim: ClaimReference) =>
        known.some((k) => k.slot === claim.slot && k.token === claim.token);
      const strangers = stored.filter((claim) => !isKnown(claim));
      for (const { slot, seq } of strangers) {
        statements.deleteClaim.run(node, executor, slot);
        statements.requeueJob.run(seq);
      }
      const isStored = (k: ClaimReference) =>
        stored.some((claim) => claim.slot === k.slot && claim.token === k.token);
      return { isCurrent: true, missing: known.filter((k) => !isStored(k)), requeued: strangers.length };
    });
  }

  /** A node whose row is gone, that was marked, or that ran before this machine was started last. */
  private isDead(node: NodeRow | null): boolean {
    if (node === null || node.dead !== null) return true;
    const { bootId: nodeBootId } = sightingFrom(node.identity, node.info);
    return nodeBootId !== undefined && this.bootId !== "" && nodeBootId !== this.bootId;
  }

  /** At most a hundred claims; the first step marks the node, the last one removes it. */
  private takeBack(
    statements: Statements,
    identity: string,
    { now, isCrash }: { now: number; isCrash: boolean },
  ): RecoverReply {
    statements.markDead.run(now, identity);
    statements.deleteGenerations.run(identity);
    const claims = statements.claimsOfNode.all(identity, claimsPerStep);
    const recovered = claims.map(({ executor, slot, seq, id, channel }) => {
      statements.deleteClaim.run(identity, executor, slot);
      statements.requeueJob.run(seq);
      const crashes = isCrash ? (statements.countCrash.get(id, now + crashesKeptSeconds)?.count ?? 0) : 0;
      return { jobId: id, channel: channel ?? "default", crashes };
    });
    if (claims.length === claimsPerStep) return { state: "more", recovered };
    statements.deleteRunningOfNode.run(identity);
    statements.deleteSignals.run(identity);
    statements.deleteNode.run(identity);
    return { state: "done", recovered };
  }
}

function isAlive(node: NodeRow | null): boolean {
  return node !== null && node.dead === null;
}

function storedClaim(row: FullClaimRow): StoredClaim {
  return {
    slot: row.slot,
    token: row.token,
    jobId: row.id,
    channel: row.channel ?? "default",
    claimedAt: row.claimed_at,
    attempt: row.attempt,
  };
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return ""; // this system does not tell
  }
}
