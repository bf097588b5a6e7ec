import type { Executor, Settlement } from "../../../src/store/store.ts";

/** Where a job is, as the model has it. `gone`: it was done, dropped or removed. */
export type JobState = "ready" | "planned" | "retrying" | "discarded" | "claimed" | "gone";

export interface ModelJob {
  readonly id: string;
  readonly channel: string;
  readonly payload: string;
  readonly barrier: string | undefined;
  state: JobState;
  /** In `planned` or `retrying`: the next promotion moves it. */
  isDue: boolean;
  /** Deaths of nodes and threads that held it. */
  crashes: number;
  suspicion: ModelSuspicion | undefined;
}

export interface ModelSuspicion {
  readonly isPoison: boolean;
  waits: number;
}

export interface ModelClaim {
  readonly job: ModelJob;
  readonly worker: ModelWorker;
  readonly slot: number;
  readonly token: string;
  /** The number of the call that made it, where that was made with work in hand. */
  readonly ahead: number | undefined;
  isCrashCounted: boolean;
  /** A suspect counts no crash while it waits to be alone; poison waits for ever. */
  standing: "none" | "waiting" | "alone";
}

/** `expired`: others may recover it. `gone`: it left, or was recovered; it never comes back. */
export type NodeState = "up" | "expired" | "gone";

export interface ModelNode {
  readonly identity: string;
  readonly workers: readonly ModelWorker[];
  state: NodeState;
}

export interface ModelWorker {
  readonly node: ModelNode;
  readonly name: string;
  /** Under which it may reserve; undefined when that was taken away. */
  generation: string | undefined;
  /** The last one it had. */
  lastGeneration: string;
  /** Of the last call with work in hand that the store took; 0 before the first. */
  lastAhead: number;
  /** By slot. */
  readonly claims: Map<number, ModelClaim>;
}

export const slotsOfWorker = 3;
/** The least there is, so that few steps make suspects and poison. */
export const maxCrashes = 2;
export const channelNames = ["default", "low", "other"] as const;

/** What a store must hold: every job in one place, every claim with one worker, and what is counted. */
export class Model {
  readonly jobs: ModelJob[] = [];
  readonly nodes: ModelNode[] = [];
  /** Claims that ended in any way: their tokens must never do anything again. */
  readonly ended: ModelClaim[] = [];
  /** Jobs delivered at most once whose end was not told yet. */
  readonly unclaimed: ModelJob[] = [];
  readonly barriers = new Set<string>();
  readonly paused = new Set<string>();
  processed = 0;
  failed = 0;
  /** Steps taken, by their kind. */
  readonly steps = new Map<string, number>();
  /** Names given so far. */
  made = 0;

  count(kind: string): void {
    this.steps.set(kind, (this.steps.get(kind) ?? 0) + 1);
  }

  nextName(kind: string): string {
    this.made += 1;
    return `${kind}${this.made}`;
  }

  get workers(): ModelWorker[] {
    return this.nodes.flatMap(({ workers }) => workers);
  }

  get claims(): ModelClaim[] {
    return this.workers.flatMap(({ claims }) => [...claims.values()]);
  }

  in(state: JobState): ModelJob[] {
    return this.jobs.filter((job) => job.state === state);
  }

  job(id: string): ModelJob {
    const found = this.jobs.find((job) => job.id === id);
    if (found === undefined) throw new Error(`the store gave a job that nobody published: ${id}`);
    return found;
  }

  /** Jobs that a worker may be given from these channels. */
  available(channels: readonly string[]): ModelJob[] {
    return this.in("ready").filter(
      ({ channel, barrier }) =>
        channels.includes(channel) && !this.paused.has(channel) && !this.barriers.has(barrier ?? ""),
    );
  }

  claim(worker: ModelWorker, made: Pick<ModelClaim, "job" | "slot" | "token" | "ahead">): void {
    made.job.state = "claimed";
    const standing = made.job.suspicion === undefined ? "none" : "waiting";
    worker.claims.set(made.slot, { ...made, worker, isCrashCounted: false, standing });
  }

  /** A claim is over; what becomes of its job is the caller's to say. */
  end(claim: ModelClaim): ModelJob {
    claim.worker.claims.delete(claim.slot);
    this.ended.push(claim);
    return claim.job;
  }

  /** A claim's job is in its channel again. */
  putBack(claim: ModelClaim): void {
    this.end(claim).state = "ready";
  }

  countCrash(claim: ModelClaim): void {
    if (claim.isCrashCounted || claim.standing === "waiting") return;
    this.count("crashes counted");
    claim.isCrashCounted = true;
    const { job } = claim;
    job.crashes += 1;
    const isPoison = claim.standing === "alone";
    if (!isPoison && job.crashes < maxCrashes - 1) return;
    this.count(isPoison ? "became poison" : "became suspects");
    job.suspicion = { isPoison, waits: 0 };
  }

  /** Its deaths count no more. */
  acquit(job: ModelJob): void {
    job.crashes = 0;
    job.suspicion = undefined;
  }

  /** What a settlement that took effect does. */
  settle(claim: ModelClaim, settlement: Settlement): void {
    this.count(`settled with ${settlement.outcome}`);
    const job = this.end(claim);
    if (settlement.outcome === "ack") this.processed += 1;
    this.conclude(job, settlement);
    if (job.suspicion === undefined) return;
    if (settlement.outcome === "postpone") job.suspicion.waits += 1;
    if (job.state === "gone" || job.state === "discarded") this.acquit(job);
  }

  /** Where a job goes with its outcome, and what is counted as a failure. */
  conclude(job: ModelJob, settlement: Settlement): void {
    const isFailure = !["ack", "requeue", "postpone"].includes(settlement.outcome);
    if (isFailure) this.failed += 1;
    switch (settlement.outcome) {
      case "ack":
      case "drop":
        job.state = "gone";
        return;
      case "requeue":
        job.state = "ready";
        return;
      case "archive":
        job.state = "discarded";
        return;
      case "retry":
      case "postpone":
        job.state = "retrying";
        job.isDue = settlement.delaySeconds <= 0;
    }
  }

  /** A node leaves, or was recovered: its claims are put back. */
  remove(node: ModelNode, { isCrash }: { readonly isCrash: boolean }): void {
    for (const worker of node.workers) {
      worker.generation = undefined;
      for (const claim of [...worker.claims.values()]) {
        const mayHaveBegun =
          claim.standing === "alone" || claim.ahead === undefined || claim.ahead < worker.lastAhead;
        if (isCrash && mayHaveBegun) this.countCrash(claim);
        this.putBack(claim);
      }
    }
    node.state = "gone";
  }
}

export function executorOf({ node, name, lastGeneration }: ModelWorker): Executor {
  return { node: node.identity, executor: name, generation: lastGeneration };
}

/** Four times in five one that may reserve, where there is one. */
export function pickWorker({ workers }: Model, index: number): ModelWorker | undefined {
  const able = workers.filter(({ generation }) => generation !== undefined);
  return pick(index % 5 === 0 || able.length === 0 ? workers : able, Math.floor(index / 5));
}

/** One of them by a number that knows nothing of how many there are; undefined where there is none. */
export function pick<T>(from: readonly T[], index: number): T | undefined {
  return from[index % Math.max(1, from.length)];
}
