import { Database } from "bun:sqlite";
import { join } from "node:path";
import type { RedisClient } from "bun";
import { checkIntegrity } from "../../../src/catalog/integrity-run.ts";
import type { Store } from "../../../src/store/store.ts";
import type { RedisServer } from "../../support/redis-server.ts";
import { redisState, type StoredState, sqliteState } from "../../support/stored-state.ts";
import { temporaryFolder } from "../../support/temporary-folder.ts";
import {
  type Address,
  closePlace,
  type EngineName,
  nodeRecord,
  openPlace,
  type Place,
} from "../steps/scene.ts";
import { type Model, type ModelNode, maxCrashes } from "./model.ts";

/** What a run needs of the machine, kept for all runs. */
export interface Ground {
  readonly engine: EngineName;
  readonly redis: RedisServer | undefined;
  readonly client: RedisClient | undefined;
}

const prefix = "model:";
const judge = "host~bun:1:judge";

/** The store under test, empty at first: a connection for publishers and operators, and one for each node. */
export class Real {
  readonly main: Place;
  private readonly ground: Ground;
  private readonly places = new Map<string, Place>();
  private file: Database | undefined;
  private readonly folder = temporaryFolder();

  private constructor(ground: Ground) {
    this.ground = ground;
    this.main = openPlace(this.address, { maxCrashes });
  }

  static async open(ground: Ground): Promise<Real> {
    await ground.client?.send("FLUSHALL", []);
    const real = new Real(ground);
    await real.main.store.open();
    await real.main.store.register(nodeRecord(judge));
    if (ground.engine === "sqlite") real.file = new Database(real.address.location, { readonly: true });
    return real;
  }

  get engine(): EngineName {
    return this.ground.engine;
  }

  /** A node's way to the store, or that of others once its own is gone. */
  storeOf({ identity }: ModelNode): Store {
    return (this.places.get(identity) ?? this.main).store;
  }

  async startNode({ identity }: ModelNode): Promise<void> {
    const place = openPlace(this.address, { maxCrashes });
    this.places.set(identity, place);
    await place.store.open();
    await place.store.register(nodeRecord(identity));
  }

  /** Makes a node look dead: by an old beat, and on SQLite, where the lock is the proof, by the end of its process's connection. */
  async expire({ identity }: ModelNode): Promise<void> {
    await this.ground.client?.send("HSET", [
      `${prefix}node:${identity}`,
      "beat",
      String(Date.now() / 1000 - 3600),
    ]);
    if (this.engine === "sqlite") await this.closeNode(identity);
  }

  /** Recovers a node step by step, by a judge that has long been steady. */
  async recover({ identity }: ModelNode, { isProven }: { readonly isProven: boolean }) {
    const now = Date.now() / 1000;
    const steady = ["beat", String(now), "beating_since", String(now - 3600)];
    await this.ground.client?.send("HSET", [`${prefix}node:${judge}`, ...steady]);
    const recovered: { readonly jobId: string; readonly crashes: number }[] = [];
    for (;;) {
      const reply = await this.main.store.recover({ identity, judge, isProven });
      recovered.push(...reply.recovered);
      if (reply.state !== "more") return { state: reply.state, recovered };
    }
  }

  async state(): Promise<StoredState> {
    const state =
      this.file === undefined ? await redisState(this.ground.client!, prefix) : sqliteState(this.file);
    return { ...state, nodes: state.nodes.filter((identity) => identity !== judge) };
  }

  async checkIntegrity(model: Model): Promise<void> {
    const stored = model.jobs.filter(({ state }) => state !== "gone").map(({ id }) => id);
    const { isSound, states, ...rest } = await checkIntegrity(this.main.catalog, { expectedIds: stored });
    if (isSound && states.size === stored.length) return;
    throw new Error(
      `the integrity check met ${states.size} of ${stored.length} jobs: ${JSON.stringify(rest)}`,
    );
  }

  async close(): Promise<void> {
    for (const identity of [...this.places.keys()]) await this.closeNode(identity);
    await closePlace(this.main);
    this.file?.close();
    this.folder[Symbol.dispose]();
  }

  private get address(): Address {
    const { engine, redis } = this.ground;
    const location = redis === undefined ? join(this.folder.path, "jobs.sqlite") : redis.url;
    return { engine, location, prefix };
  }

  private async closeNode(identity: string): Promise<void> {
    const place = this.places.get(identity);
    this.places.delete(identity);
    if (place !== undefined) await closePlace(place);
  }
}
