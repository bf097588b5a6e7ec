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
  RevokeOptions,
  StoredClaim,
} from "../store.ts";
import { claimKey, type Engine, executorKeyOf } from "./engine.ts";
import type { Presence } from "./presence.ts";
import { standing } from "./schema.ts";
import { claimsPerStep, type FullClaimRow, type NodeRow, type Statements } from "./statements.ts";

/** Seconds between two beats that count as a gap: two beats missed. */
const beatGapSeconds = 7;
const crashesKeptSeconds = 7 * 86_400;

/** Nodes, generations, and the way back of claims whose worker is gone. Liveness is by proof only. */
export class Nodes {
  private readonly engine: Engine;
  private readonly presence: Presence;
  private readonly maxCrashes: number;
  private readonly bootId = bootId();

  constructor(engine: Engine, { presence, maxCrashes }: { presence: Presence; maxCrashes: number }) {
    this.engine = engine;
    this.presence = presence;
    this.maxCrashes = maxCrashes;
  }

  /** A call that is sent again is the same registration. */
  register(node: NodeRecord): Promise<void> {
    return this.engine.write((statements, now) => {
      const info = nodeInfoJson(node);
      const stored = statements.node.get(node.identity);
      if (stored !== null && (stored.info !== info || stored.dead !== null)) {
        throw new StoreError(
          `a node of the identity ${node.identity} is registered already, or was declared dead; identities are never used again`,
        );
      }
      if (stored !== null) return;
      this.presence.hold(node.identity);
      statements.addNode.run(node.identity, info, now, now, node.concurrency);
    });
  }

  grant({ node, executor, generation }: Executor): Promise<boolean> {
    return this.engine.write((statements) => {
      if (!isAlive(statements.node.get(node))) return false;
      const key =
        this.engine.executorKey(statements, { node, executor }) ??
        this.addExecutor(statements, node, executor);
      statements.setGeneration.run(key, generation);
      return true;
    });
  }

  revoke(
    node: string,
    executor: string,
    { isCrash, running, spared }: RevokeOptions,
  ): Promise<readonly StoredClaim[]> {
    return this.engine.write((statements, now) => {
      const key = this.engine.executorKey(statements, { node, executor });
      if (key === undefined) return [];
      statements.retire.run(key);
      const claims = statements.claimsOfExecutor.all(node, executor);
      for (const claim of claims) {
        if (!isCrash || running?.includes(claim.slot) === false || spared?.includes(claim.token)) continue;
        if (isUnbegunSuspect(claim)) continue;
        const count = this.countCrash(statements, claim, now);
        statements.noteCrash.run(claim.key);
        // Marked, so that the suspicion ends with the job where this claim's settlement ends it.
        const isNew = claim.standing === null && count >= this.maxCrashes - 1;
        if (isNew) statements.setStanding.run(standing.waiting, claim.key);
      }
      return claims.map(storedClaim);
    });
  }

  beginAlone(executor: Executor, { slot, token }: ClaimReference): Promise<boolean> {
    return this.engine.write((statements) => {
      const key = this.engine.executorKey(statements, executor);
      if (key === undefined || statements.generation.get(key)?.token !== executor.generation) return false;
      const claim = statements.claim.get(claimKey(key, slot));
      if (claim?.token !== token || claim.payload === null) return false;
      statements.setStanding.run(standing.alone, claimKey(key, slot));
      return true;
    });
  }

  beat(
    identity: string,
    { busy, isQuiet, isNewServer }: { busy: number; isQuiet: boolean; isNewServer: boolean },
  ): Promise<BeatReply> {
    return this.engine.write((statements, now) => {
      const node = statements.node.get(identity);
      const silent = node === null ? 0 : Math.max(0, now - node.beat);
      const nowMs = Math.floor(now * 1000);
      const silentMs = Math.floor(silent * 1000);
      if (node === null || !isAlive(node)) return { isAlive: false, steadyMs: 0, silentMs, nowMs };
      const hasGap = silent > beatGapSeconds || node.beating_since > now || isNewServer;
      const since = hasGap ? now : node.beating_since;
      statements.beat.run(now, since, busy, isQuiet ? 1 : 0, identity);
      statements.dropOldBarriers.run(now);
      statements.dropOldCrashes.run(now);
      statements.dropOldSuspects.run(now);
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
          return found.flatMap(({ signal, expires_at }) =>
            expires_at > now && isSignal(signal) ? [signal] : [],
          );
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
    return this.engine.read((statements) => {
      const executors = new Map<string, string[]>();
      for (const { node, executor } of statements.claimOwners.all()) {
        executors.set(node, [...(executors.get(node) ?? []), executor]);
      }
      const orphans = [...executors].map(([identity, names]) => ({ identity, executors: names }));
      return { orphans, cursor: undefined };
    });
  }

  /** Death is checked inside the transaction that marks it. */
  async recover({ identity, isProven }: RecoverRequest): Promise<RecoverReply> {
    const reply = await this.engine.write((statements, now): RecoverReply => {
      const node = statements.node.get(identity);
      if (!isProven && !this.isDead(node)) return { state: "alive", recovered: [] };
      return this.takeBack(statements, identity, { now, isCrash: true });
    });
    if (reply.state === "done") this.presence.release(identity);
    return reply;
  }

  closeForReservations(identity: string): Promise<void> {
    return this.engine.write((statements) => {
      this.retireAll(statements, identity);
    });
  }

  async leave(identity: string): Promise<{ requeued: number }> {
    let requeued = 0;
    for (;;) {
      const reply = await this.engine.write((statements, now) =>
        this.takeBack(statements, identity, { now, isCrash: false }),
      );
      requeued += reply.recovered.length;
      if (reply.state === "more") continue;
      this.presence.release(identity);
      return { requeued };
    }
  }

  reconcile(
    { node, executor, generation }: Executor,
    newGeneration: string,
    known: readonly ClaimReference[],
  ): Promise<{ isCurrent: boolean; missing: readonly ClaimReference[]; requeued: number }> {
    return this.engine.write((statements) => {
      const key = this.engine.executorKey(statements, { node, executor });
      const present = key === undefined ? undefined : statements.generation.get(key)?.token;
      if (key === undefined || (present !== generation && present !== newGeneration))
        return { isCurrent: false, missing: [], requeued: 0 };
      statements.setGeneration.run(key, newGeneration);
      const tokens = new Map(known.map(({ slot, token }) => [slot, token]));
      const found = new Set<number>();
      const unknown: FullClaimRow[] = [];
      for (const claim of statements.claimsOfExecutor.all(node, executor)) {
        if (claim.channel !== null && tokens.get(claim.slot) === claim.token) found.add(claim.slot);
        else unknown.push(claim);
      }
      const requeued = putBack(statements, unknown);
      if (requeued > 0) this.engine.announce();
      return { isCurrent: true, missing: known.filter(({ slot }) => !found.has(slot)), requeued };
    });
  }

  /**
   * A node whose row is gone, that was marked, whose process no longer holds its lock, or, without a lock,
   * that ran before this machine was started last.
   */
  private isDead(node: NodeRow | null): boolean {
    if (node === null || node.dead !== null) return true;
    const presence = this.presence.stateOf(node.identity);
    if (presence !== "unknown") return presence === "gone";
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
    this.retireAll(statements, identity);
    const claims = statements.claimsOfNode.all(identity);
    putBack(statements, claims);
    const recovered = claims.flatMap((claim) => {
      if (claim.channel === null) return []; // its job is not there any more
      const crashes = isCrash ? this.crashesOf(statements, claim, now) : 0;
      return [{ jobId: claim.id, channel: claim.channel, crashes }];
    });
    if (recovered.length > 0) this.engine.announce();
    if (claims.length === claimsPerStep) return { state: "more", recovered };
    this.remove(statements, identity);
    return { state: "done", recovered };
  }

  private retireAll(statements: Statements, identity: string): void {
    for (const { id } of statements.executors.all(identity)) statements.retire.run(executorKeyOf(id));
  }

  /** What its executors have settled stays counted. */
  private remove(statements: Statements, identity: string): void {
    for (const { id } of statements.executors.all(identity)) {
      const settled = statements.settled.get(executorKeyOf(id));
      statements.count.run(settled?.processed ?? 0, "processed");
      statements.count.run(settled?.failed ?? 0, "failed");
      statements.deleteClaim.run(executorKeyOf(id));
    }
    statements.deleteExecutors.run(identity);
    statements.deleteRunningOfNode.run(identity);
    statements.deleteSignals.run(identity);
    statements.deleteNode.run(identity);
  }

  private addExecutor(statements: Statements, node: string, executor: string): number {
    return executorKeyOf(statements.addExecutor.get(node, executor)?.id ?? 0);
  }

  /** A claim of its worker's last call with work in hand was not begun when the store last heard of it. */
  private crashesOf(statements: Statements, claim: FullClaimRow, now: number): number {
    const { ahead, lastAhead } = claim;
    const isUnbegun =
      claim.standing === null
        ? ahead !== null && lastAhead !== null && ahead >= lastAhead
        : isUnbegunSuspect(claim);
    if (isUnbegun) return statements.crashes.get(claim.id)?.count ?? 0;
    return this.countCrash(statements, claim, now);
  }

  /**
   * Once for each claim. From `max_crashes` - 1 on the job is a suspect; one that died alone is poison.
   *
   * @returns how often the job has crashed
   */
  private countCrash(statements: Statements, claim: FullClaimRow, now: number): number {
    const { id, crashed } = claim;
    if (crashed === 1) return statements.crashes.get(id)?.count ?? 0;
    const until = now + crashesKeptSeconds;
    const count = statements.countCrash.get(id, until)?.count ?? 0;
    const isAlone = claim.standing === standing.alone;
    if (isAlone || count >= this.maxCrashes - 1) statements.suspect.run(id, count, isAlone ? 1 : 0, until);
    return count;
  }
}

/** It tells when it begins, since it must be alone then. */
function isUnbegunSuspect(claim: FullClaimRow): boolean {
  return claim.standing === standing.waiting || claim.standing === standing.poison;
}

/** The one that was reserved last first: each comes before the others. @returns how many had their job */
function putBack(statements: Statements, claims: readonly FullClaimRow[]): number {
  let requeued = 0;
  for (const { key } of claims.toSorted((one, other) => other.place - one.place)) {
    requeued += statements.requeueClaimed.run(key).changes;
    statements.deleteClaim.run(key);
  }
  return requeued;
}

function isSignal(text: string): text is NodeSignal {
  return text === "TSTP" || text === "TERM" || text === "TTIN";
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
    ...standingOf(row),
  };
}

/** One whose crash was counted had begun; it became a suspect by that. */
function standingOf(row: FullClaimRow): Pick<StoredClaim, "standing"> {
  if (row.standing === standing.alone) return { standing: "alone" };
  return row.standing === null || row.crashed === 1 ? {} : { standing: "waiting" };
}

function bootId(): string {
  try {
    return readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  } catch {
    return ""; // this system does not tell
  }
}
