import { StoreError } from "../../foundation/errors.ts";
import { randomHex } from "../../foundation/ids.ts";
import { nodeInfoJson, runningJson, sightingFrom } from "../node-info.ts";
import type {
  BeatReply,
  ClaimReference,
  CycleReply,
  CycleRequest,
  Executor,
  NodeRecord,
  NodeSighting,
  NodeSignal,
  Orphan,
  PromoteReply,
  Publication,
  RecoverReply,
  RecoverRequest,
  RevokeOptions,
  RunningJob,
  Store,
  StoredClaim,
  StoreReport,
} from "../store.ts";
import { defaultMaxCrashes } from "../suspicion.ts";
import { type RedisAddress, redisAddress } from "./address.ts";
import { type RedisArgument, RedisConnection } from "./connection.ts";
import { type ArchiveLimits, cycleArguments, cycleReply, settlementParts } from "./cycle-wire.ts";
import { RedisKeys } from "./keys.ts";
import { publishArguments } from "./publish-wire.ts";
import { scripts } from "./scripts.ts";
import { checkServer } from "./server-check.ts";
import { RedisChannelWaiter } from "./waiter.ts";

export interface RedisStoreOptions extends ArchiveLimits {
  readonly url: string;
  readonly prefix: string;
  readonly tlsCa?: string | undefined;
  readonly allowEviction: boolean;
  /** See the setting. Default 3. */
  readonly maxCrashes?: number;
  /** See `RedisConnection`. Default false. */
  readonly writesAtOnce?: boolean;
  /** Milliseconds a publication may take, connecting included. Default 5,000. */
  readonly publishDeadlineMs?: number;
}

/** A judge must have beaten this long without a gap (protocol, section 6). */
const judgeSteadyMs = 10_000;
/** A pause between two beats that counts as a gap: two beats missed. */
const beatGapSeconds = 7;
const sightingsKept = 1000;
const claimsPerStep = 100;
const bytesPerStep = 512 * 1024;
/** Of each set: promoting copies a payload more often than the other steps do. */
const promotedBytesPerStep = 256 * 1024;

/** The store on Redis: each method is one script or command on one supervised connection. */
export class RedisStore implements Store {
  readonly engine = "redis";
  readonly address: string;
  private readonly options: RedisStoreOptions;
  private readonly keys: RedisKeys;
  private readonly redis: RedisAddress;
  private readonly connection: RedisConnection;
  private readonly sightings = new Map<string, NodeSighting>();

  constructor(options: RedisStoreOptions) {
    this.options = options;
    this.keys = new RedisKeys(options.prefix);
    this.redis = redisAddress(options.url, options.tlsCa);
    this.address = this.redis.display;
    this.connection = new RedisConnection(this.redis, { writesAtOnce: options.writesAtOnce ?? false });
  }

  get epoch(): number {
    return this.connection.epoch;
  }

  private get maxCrashes(): number {
    return this.options.maxCrashes ?? defaultMaxCrashes;
  }

  async open(): Promise<StoreReport> {
    const { allowEviction } = this.options;
    const warnings = await checkServer(this.connection, { address: this.address, allowEviction });
    return { version: `redis ${this.connection.facts?.version}`, warnings };
  }

  async close(): Promise<void> {
    this.connection.close();
  }

  // -------------------------------------------------------------------------------------- publishing

  async publish(publications: readonly Publication[], barrier = ""): Promise<void> {
    if (publications.length === 0) return;
    const args = publishArguments(publications, { prefix: this.keys.prefix, barrier });
    await this.connection.scriptWithNonce(scripts.publish, [this.keys.channels], args, {
      deadlineMs: this.options.publishDeadlineMs ?? 5000,
    });
  }

  async releaseBarrier(barrier: string): Promise<void> {
    await this.connection.call("DEL", [this.keys.publication(barrier)]);
  }

  // -------------------------------------------------------------------------------------- the cycle

  /** One script call, unless the settlements are more than one call may carry out. */
  async cycle(request: CycleRequest): Promise<CycleReply> {
    const parts = settlementParts(request.settlements);
    const last = parts.pop() ?? [];
    const earlier: CycleReply[] = [];
    for (const settlements of parts) {
      earlier.push(await this.cycleOnce({ ...request, settlements, slots: [] }));
    }
    const reply = await this.cycleOnce({ ...request, settlements: last });
    if (earlier.length === 0) return reply;
    return {
      ...reply,
      refused: [...earlier.flatMap(({ refused }) => refused), ...reply.refused],
      blocked: [...earlier.flatMap(({ blocked }) => blocked), ...reply.blocked],
    };
  }

  private async cycleOnce(request: CycleRequest): Promise<CycleReply> {
    const based = request.tokenBase === undefined ? { ...request, tokenBase: randomHex(8) } : request;
    const args = cycleArguments(based, this.keys.prefix, this.options);
    const reply = await this.connection.script(scripts.cycle, [this.keys.node(request.executor.node)], args);
    return cycleReply(reply, based);
  }

  async claimedBytes({ node, executor }: Executor, claim: ClaimReference): Promise<Uint8Array | undefined> {
    const [copy] = await this.connection.script(
      scripts.claimedBytes,
      [this.keys.node(node)],
      [this.keys.prefix, executor, claim.slot, claim.token],
    );
    if (copy === "") return undefined;
    const bytes = await this.connection.bytes(String(copy));
    await this.connection.call("DEL", [String(copy)]);
    return bytes ?? undefined;
  }

  async reconcile(
    { node, executor, generation }: Executor,
    newGeneration: string,
    known: readonly ClaimReference[],
    slotCount: number,
  ): Promise<{ isCurrent: boolean; missing: readonly ClaimReference[]; requeued: number }> {
    const args: RedisArgument[] = [
      this.keys.prefix,
      executor,
      generation,
      newGeneration,
      slotCount,
      known.length,
    ];
    for (const { slot, token } of known) args.push(slot, token);
    const missing = new Set<number>();
    let requeued = 0;
    for (;;) {
      const reply = await this.connection.script(scripts.reconcile, [this.keys.node(node)], args);
      const [isCurrent, moved, more, gone] = reply as [number, number, number, number[]];
      requeued += moved;
      for (const slot of gone) missing.add(slot);
      if (more === 0 || isCurrent === 0) {
        return {
          isCurrent: isCurrent === 1,
          missing: known.filter(({ slot }) => missing.has(slot)),
          requeued,
        };
      }
    }
  }

  async beginAlone({ node, executor, generation }: Executor, claim: ClaimReference): Promise<boolean> {
    const [mayBegin] = await this.connection.script(
      scripts.beginAlone,
      [this.keys.node(node)],
      [this.keys.prefix, executor, generation, claim.slot, claim.token],
    );
    return mayBegin === 1;
  }

  async showRunning({ node, executor }: Executor, jobs: readonly RunningJob[]): Promise<void> {
    const args: RedisArgument[] = [this.keys.prefix, executor];
    for (const job of jobs) args.push(`${executor}.${job.slot}`, runningJson(job));
    await this.connection.script(scripts.showRunning, [this.keys.nodeWork(node)], args);
  }

  // -------------------------------------------------------------------------------------- waiting

  waiter(channel: string): RedisChannelWaiter {
    return new RedisChannelWaiter(this.redis, this.keys, channel);
  }

  // -------------------------------------------------------------------------------------- nodes

  async register(node: NodeRecord): Promise<void> {
    await this.connection.script(
      scripts.register,
      [this.keys.nodes, this.keys.node(node.identity)],
      [this.keys.prefix, node.identity, nodeInfoJson(node), node.concurrency],
    );
  }

  async grant({ node, executor, generation }: Executor): Promise<boolean> {
    const [isGranted] = await this.connection.script(
      scripts.grant,
      [this.keys.nodes, this.keys.node(node)],
      [this.keys.prefix, node, executor, generation],
    );
    return isGranted === 1;
  }

  async revoke(node: string, executor: string, options: RevokeOptions): Promise<readonly StoredClaim[]> {
    const reply = await this.connection.script(
      scripts.revoke,
      [this.keys.node(node)],
      [this.keys.prefix, executor, this.maxCrashes, ...crashArguments(options)],
    );
    const claims: StoredClaim[] = [];
    for (let i = 0; i + 1 < reply.length; i += 2) {
      const claim = storedClaim(String(reply[i]), String(reply[i + 1]));
      if (claim !== undefined) claims.push(claim);
    }
    return claims;
  }

  async beat(
    identity: string,
    { busy, isQuiet, isNewServer }: { busy: number; isQuiet: boolean; isNewServer: boolean },
  ): Promise<BeatReply> {
    const reply = await this.connection.script(
      scripts.beat,
      [this.keys.nodes, this.keys.node(identity)],
      [this.keys.prefix, identity, busy, String(isQuiet), isNewServer ? 1 : 0, beatGapSeconds],
    );
    const [isAlive, steadyMs, silentMs, nowMs] = reply as [number, number, number, number];
    return { isAlive: isAlive === 1, steadyMs, silentMs, nowMs };
  }

  async serverIdentity(): Promise<string> {
    await this.connection.call("PING", []); // a connection that broke is made anew, and tells of a new server
    return this.connection.facts?.runId ?? "";
  }

  async takeSignals(identity: string): Promise<readonly NodeSignal[]> {
    const reply = await this.connection.script(
      scripts.takeSignals,
      [this.keys.nodeSignals(identity)],
      [this.keys.prefix],
    );
    return reply.filter(
      (signal): signal is NodeSignal => signal === "TSTP" || signal === "TERM" || signal === "TTIN",
    );
  }

  async promoteDue(): Promise<PromoteReply> {
    const reply = await this.connection.script(
      scripts.promote,
      [this.keys.planned, this.keys.retries],
      [this.keys.prefix, claimsPerStep, promotedBytesPerStep],
    );
    const [planned, retries, nextInMs, ...problems] = reply as [number, number, number, ...string[]];
    return { planned, retries, nextInMs: nextInMs < 0 ? undefined : nextInMs, problems };
  }

  async sightNodes(cursor = "0"): Promise<{ nodes: readonly NodeSighting[]; cursor: string | undefined }> {
    const reply = await this.connection.call("SSCAN", [this.keys.nodes, cursor, "COUNT", 100]);
    const [next, identities] = reply as [string, string[]];
    const nodes = await Promise.all(identities.map((identity) => this.sighting(identity)));
    return { nodes, cursor: next === "0" ? undefined : next };
  }

  /**
   * A node's `info` never changes, so it is read once. Nothing where its key is spoilt: one node must not
   * hide the others.
   */
  private async sighting(identity: string): Promise<NodeSighting> {
    const known = this.sightings.get(identity);
    if (known !== undefined) return known;
    try {
      const info = await this.connection.call("HGET", [this.keys.node(identity), "info"]);
      const sighting = sightingFrom(identity, info);
      if (this.sightings.size >= sightingsKept) this.sightings.clear();
      if (info !== null) this.sightings.set(identity, sighting);
      return sighting;
    } catch (error) {
      if (error instanceof StoreError) return { identity };
      throw error;
    }
  }

  async sightOrphans(cursor = "0"): Promise<{ orphans: readonly Orphan[]; cursor: string | undefined }> {
    const start = `${this.keys.prefix}node:`;
    const pattern = `${globEscaped(start)}*:claim*`;
    const reply = await this.connection.call("SCAN", [cursor, "MATCH", pattern, "COUNT", 500]);
    const [next, found] = reply as [string, string[]];
    const executors = new Map<string, string[]>();
    for (const key of found) {
      const [, identity, , executor] = /^(.*?):(claims$|claimed:(.*)$)/s.exec(key.slice(start.length)) ?? [];
      if (identity === undefined) continue;
      executors.set(identity, [
        ...(executors.get(identity) ?? []),
        ...(executor === undefined ? [] : [executor]),
      ]);
    }
    const identities = [...executors.keys()];
    const known =
      identities.length > 0 ? await this.connection.call("SMISMEMBER", [this.keys.nodes, ...identities]) : [];
    const orphans = identities
      .filter((_, i) => (known as number[])[i] === 0)
      .map((identity) => ({ identity, executors: executors.get(identity) ?? [] }));
    return { orphans, cursor: next === "0" ? undefined : next };
  }

  async recover({ identity, judge, isProven, executors = [] }: RecoverRequest): Promise<RecoverReply> {
    return this.takeBack(identity, isProven ? "proven" : "age", judge, executors);
  }

  async closeForReservations(identity: string): Promise<void> {
    await this.connection.script(
      scripts.revoke,
      [this.keys.node(identity)],
      [this.keys.prefix, "", 0, "none"],
    );
  }

  async leave(identity: string): Promise<{ requeued: number }> {
    let requeued = 0;
    for (;;) {
      const reply = await this.takeBack(identity, "leave", identity, []);
      requeued += reply.requeued;
      if (reply.state !== "more") return { requeued };
    }
  }

  private async takeBack(
    identity: string,
    mode: "age" | "proven" | "leave",
    judge: string,
    executors: readonly string[],
  ): Promise<RecoverReply & { requeued: number }> {
    const reply = await this.connection.script(
      scripts.recover,
      [this.keys.nodes, this.keys.node(identity)],
      [
        this.keys.prefix,
        identity,
        mode,
        judge,
        judgeSteadyMs,
        claimsPerStep,
        bytesPerStep,
        this.maxCrashes,
        ...executors,
      ],
    );
    const [state, requeued, ...flat] = reply as [RecoverReply["state"], number, ...(string | number)[]];
    const recovered = [];
    for (let i = 0; i + 2 < flat.length; i += 3) {
      recovered.push({ jobId: String(flat[i]), channel: String(flat[i + 1]), crashes: Number(flat[i + 2]) });
    }
    return { state, requeued, recovered };
  }
}

/** A claim's field is `<executor>.<slot>`. */
function storedClaim(field: string, json: string): StoredClaim | undefined {
  try {
    const record = JSON.parse(json) as Record<string, unknown>;
    return {
      slot: Number(field.slice(field.lastIndexOf(".") + 1)),
      token: String(record["claim_token"]),
      jobId: String(record["task_id"]),
      channel: String(record["channel"]),
      claimedAt: Number(record["claimed_at"]),
      attempt: Number(record["attempt"]),
      ...standingOf(record),
    };
  } catch {
    return undefined; // not ours: reconciling or recovery takes care of its payload
  }
}

/** One whose crash was counted had begun; it became a suspect by that. */
function standingOf(record: Record<string, unknown>): Pick<StoredClaim, "standing"> {
  if (record["alone"] === true) return { standing: "alone" };
  const isWaiting = record["standing"] !== undefined && record["crash_counted"] !== true;
  return isWaiting ? { standing: "waiting" } : {};
}

function globEscaped(text: string): string {
  return text.replace(/[*?[\]\\^]/g, "\\$&");
}

function crashArguments({ isCrash, running, spared }: RevokeOptions): (string | number)[] {
  if (!isCrash) return ["none"];
  if (running !== undefined) return ["only", ...running];
  return ["but", ...(spared ?? [])];
}
