import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { Catalog } from "../../../src/catalog/catalog.ts";
import { settingsFrom } from "../../../src/config/resolve.ts";
import { storeFor } from "../../../src/store/open.ts";
import { NodeProcess } from "../../support/node-process.ts";
import { type TemporaryFolder, temporaryFolder } from "../../support/temporary-folder.ts";
import type { StoreNeeds } from "../fault.ts";
import type { Historian } from "../history/history.ts";
import { RedisHistorian } from "../history/redis-historian.ts";
import { SqliteHistorian } from "../history/sqlite-historian.ts";
import type { PublisherPlan } from "../jobs/publisher.ts";
import { Ledger } from "../ledger.ts";
import type { Random } from "../random.ts";
import type { Strike } from "../strike.ts";
import { FileWorld } from "./file-world.ts";
import { Fleet, type FleetNode, hasStarted, type SeatSetup } from "./fleet.ts";
import { type GivenWork, OwnPublisher } from "./own-publisher.ts";
import { RedisWorld } from "./redis-world.ts";

export interface WorldOptions {
  readonly engine: "redis" | "sqlite";
  readonly needs: StoreNeeds;
  readonly seats: readonly SeatSetup[];
  readonly random: Random;
}

const prefix = "solid_jobs:";
/** An idle fleet gets work after this time, so that a fault has something to hit. */
const idleMs = 150;
const victimMs = 30_000;

/** All of one run: the store, what leads to it, the nodes, the ledger, and what was done to them. */
export class World {
  readonly folder: TemporaryFolder;
  readonly ledger: Ledger;
  readonly fleet: Fleet;
  readonly strikes: Strike[] = [];
  /** What a fault found wrong while it struck. */
  readonly problems: string[] = [];
  /** Times at which nodes may end by themselves, epoch ms. */
  readonly endings: { readonly from: number; readonly until: number }[] = [];
  readonly modulePath: string;
  private readonly random: Random;
  private readonly store: RedisWorld | FileWorld;
  private readonly historians: Historian[] = [];
  private publishers = 0;
  private readonly own: OwnPublisher;

  private constructor(store: RedisWorld | FileWorld, folder: TemporaryFolder, options: WorldOptions) {
    this.store = store;
    this.folder = folder;
    this.random = options.random;
    const ledgerFolder = join(folder.path, "ledger");
    mkdirSync(ledgerFolder);
    this.ledger = new Ledger(ledgerFolder);
    this.own = new OwnPublisher(() => this.ownSettings, { ledger: this.ledger, random: options.random });
    this.modulePath = folder.write("jobs/jobs.ts");
    this.repairModule();
    this.fleet = new Fleet(
      {
        cwd: folder.path,
        module: this.modulePath,
        url: store.url,
        ledgerFolder,
        onStart: ({ name }, clockErrorMs) => this.ledger.clockErrors.set(name, clockErrorMs),
      },
      options.seats,
    );
  }

  /** Resolves when all nodes have started. */
  static async open(options: WorldOptions): Promise<World> {
    const folder = temporaryFolder();
    const { appendOnly = options.random.pick(["everysec", "always"]), hasReplica = false } = options.needs;
    const store =
      options.engine === "redis"
        ? await RedisWorld.open({ appendOnly, hasReplica })
        : new FileWorld(folder.path, { hasSmallDisk: options.needs.hasSmallDisk === true });
    const world = new World(store, folder, options);
    try {
      await world.watch();
      await world.fleet.start();
    } catch (error) {
      await world.close();
      throw error;
    }
    return world;
  }

  get redis(): RedisWorld {
    if (this.store instanceof RedisWorld) return this.store;
    throw new Error("this run has no Redis");
  }

  get file(): FileWorld {
    if (this.store instanceof FileWorld) return this.store;
    throw new Error("this run has no file");
  }

  get engine(): "redis" | "sqlite" {
    return this.store instanceof RedisWorld ? "redis" : "sqlite";
  }

  /** The history of the store that is the present one. */
  get historian(): Historian {
    const [first, ofReplica] = this.historians;
    const hasFailedOver =
      this.store instanceof RedisWorld && this.store.server === this.store.replica?.server;
    const present = hasFailedOver ? ofReplica : first;
    if (present === undefined) throw new Error("this run is not watched");
    return present;
  }

  /** Straight to the store, past what faults do to the way there. The caller closes it. */
  catalog(): Catalog {
    return new Catalog(this.ownSettings);
  }

  /** Starts a publisher. Resolves when it has published everything, or was killed. */
  async publisher(plan: Omit<PublisherPlan, "name">): Promise<void> {
    this.publishers += 1;
    const name = `p${this.publishers}`;
    const publisher = new NodeProcess({
      program: join(import.meta.dir, "..", "jobs", "publisher.ts"),
      args: [],
      cwd: this.folder.path,
      env: {
        ...this.jobEnvironment(name),
        SOLID_JOBS_URL: this.store.url,
        FAULTS_PLAN: JSON.stringify({ ...plan, name }),
      },
    });
    this.processes.push(publisher);
    if ((await publisher.exited) !== 0) this.problems.push(`publisher ${name} failed:\n${publisher.dump()}`);
  }

  /** Publishes jobs of a kind straight into the store. Resolves to their ids when they are stored for certain. */
  publish(kind: string, count: number, given: GivenWork = {}): Promise<string[]> {
    return this.own.publish(kind, count, given);
  }

  /** Publishing must be refused now, with that code and no other. */
  async mustRefuse(code: string): Promise<void> {
    const found = await this.own.attemptOne("sleeping");
    if (found !== code)
      this.problems.push(`expected a publication to be refused with ${code}, got ${found ?? "none"}`);
  }

  /** A node that runs jobs at this moment. Gives the fleet work when nobody has any. */
  async victim(fits: (node: FleetNode) => boolean = () => true): Promise<FleetNode> {
    const endsAt = performance.now() + victimMs;
    await Bun.sleep(this.random.int(0, 60)); // not always at the first moment of a burst
    for (let idleSince = performance.now(); performance.now() < endsAt; ) {
      const busy = new Set(this.ledger.running().map(({ node }) => node));
      const victims = this.fleet.living.filter(
        (node) => busy.has(node.name) && hasStarted(node) && fits(node),
      );
      if (victims.length > 0) return this.random.pick(victims);
      if (performance.now() - idleSince > idleMs) {
        await this.publish("sleeping", 40);
        idleSince = performance.now();
      }
      await Bun.sleep(5);
    }
    throw new Error(`no node ran a job for ${victimMs / 1000} s`);
  }

  /** Notes a fault with the time it took; what runs in that time is hit by it. */
  async struck(
    fault: string,
    scope: Strike["scope"],
    action: () => unknown,
    more: Partial<Pick<Strike, "isFatal" | "detail" | "rollsBackSince">> = {},
  ): Promise<void> {
    const at = Date.now();
    await action();
    this.strikes.push({ fault, at, until: Date.now(), scope, ...more });
  }

  /** Waits, up to a time that makes the run fail. */
  async until(what: string, condition: () => boolean | Promise<boolean>, limitMs: number): Promise<void> {
    const endsAt = performance.now() + limitMs;
    while (!(await condition())) {
      if (performance.now() > endsAt) throw new Error(`waited ${limitMs / 1000} s in vain for ${what}`);
      await Bun.sleep(10);
    }
  }

  /** With the ledger read to its end. */
  refreshed(): this {
    this.ledger.refresh();
    return this;
  }

  breakModule(): void {
    this.folder.write("jobs/jobs.ts", `throw new Error("a deploy that does not load");`);
  }

  repairModule(): void {
    const tasks = join(import.meta.dir, "..", "jobs", "tasks.ts");
    this.folder.write("jobs/jobs.ts", `export * from ${JSON.stringify(tasks)};\n`);
  }

  jobEnvironment(name: string): Record<string, string> {
    return { FAULTS_LEDGER: join(this.folder.path, "ledger"), FAULTS_NODE: name, NODE_ENV: "development" };
  }

  /** Processes beside the nodes, which end with the run. */
  readonly processes: NodeProcess[] = [];

  async close(): Promise<void> {
    await this.fleet.end();
    for (const process of this.processes) if (!process.hasExited) await process.kill();
    for (const historian of this.historians) historian.close();
    this.ledger.close();
    await this.store.close();
    this.folder[Symbol.dispose]();
  }

  private get ownSettings() {
    if (this.store instanceof FileWorld) this.store.admitThisVersion();
    const url = this.store instanceof RedisWorld ? this.store.server.url : this.store.url;
    return settingsFrom({ env: {}, given: { url } });
  }

  private async watch(): Promise<void> {
    if (this.store instanceof RedisWorld) {
      const servers = [this.store.server, ...(this.store.replica ? [this.store.replica.server] : [])];
      this.historians.push(...servers.map(({ folder }) => new RedisHistorian(folder, prefix)));
      return;
    }
    const store = storeFor(this.ownSettings);
    await store.open();
    await store.close();
    this.historians.push(new SqliteHistorian(this.store.path));
  }
}
