import type { GivenSettings } from "../config/given.ts";
import { processConfiguration } from "../config/process.ts";
import type { ChannelWeight, Settings } from "../config/settings.ts";
import { ConfigurationError, SolidJobsError, StoreUnavailable, toError } from "../foundation/errors.ts";
import type { Service } from "../foundation/service.ts";
import { pause } from "../foundation/time.ts";
import type { Logger } from "../instrumentation/logger.ts";
import { createLogger } from "../instrumentation/logger-output.ts";
import { storeFor } from "../store/open.ts";
import type { NodeSignal, Store } from "../store/store.ts";
import type { Node, StopReport } from "./node.ts";
import type { LoadedTasks } from "./probe.ts";

// Loaded when a node starts: every thread that imports the library names this class, and nearly none runs it.
const resolving = () => require("../config/resolve.ts") as typeof import("../config/resolve.ts");
const nodes = () => require("./node.ts") as typeof import("./node.ts");
const probing = () => require("./probe.ts") as typeof import("./probe.ts");
const threads = () => require("./threads.ts") as typeof import("./threads.ts");
const reporting = () => require("./report.ts") as typeof import("./report.ts");

export interface NodeDescription {
  readonly identity: string;
  /** Without credentials. */
  readonly store: string;
  /** The store's, such as `redis 7.0.15`. */
  readonly version: string;
  readonly workers: number;
  readonly slots: number;
  readonly channels: readonly ChannelWeight[];
  readonly tasks: readonly string[];
}

/** What the CLI gives: settings already resolved. An application gives settings by name instead. */
export interface ResolvedConductorOptions {
  readonly settings: Settings;
  readonly logger?: Logger;
  /** What the program's own tasks are, where `settings` names no modules that would have to be loaded first. */
  readonly tasks?: LoadedTasks;
}

export type ConductorOptions = ResolvedConductorOptions | (GivenSettings & { readonly logger?: Logger });

/**
 * Runs a node: in an application, or for the CLI. It installs no signal handlers and never exits the
 * process. Start, stop and restart may be called in any order.
 *
 * A node that was declared dead, or is restarted for changed modules, begins again in place: a new
 * incarnation with a new identity and fresh threads.
 */
export class Conductor implements Service {
  /** Resolves with the exit status of the node's life: 0 after a stop, 1 after a failure. */
  readonly finished: Promise<number>;
  private readonly settings: Settings;
  private readonly logger: Logger;
  private readonly ownTasks: LoadedTasks | undefined;
  private readonly finish: (status: number) => void;
  private store: Store | undefined;
  private node: Node | undefined;
  private starting: Promise<void> | undefined;
  private stopping: Promise<StopReport> | undefined;
  private changing: Promise<unknown> = Promise.resolve();
  private descriptionNow: NodeDescription | undefined;
  private hasHinted = false;
  private hasFailed = false;
  private isQuiet = false;
  /** Ends what a start waits for. */
  private readonly interrupting = new AbortController();

  /** @throws ConfigurationError for settings that cannot be used */
  constructor(options: ConductorOptions) {
    const { settings, logger, tasks } = resolved(options);
    this.settings = settings;
    this.ownTasks = tasks;
    this.logger = logger;
    const { promise, resolve } = Promise.withResolvers<number>();
    this.finished = promise;
    this.finish = resolve;
  }

  /** What runs. @throws SolidJobsError before the start has ended */
  get description(): NodeDescription {
    if (this.descriptionNow === undefined)
      throw new SolidJobsError("NOT_STARTED", "the node has not started yet");
    return this.descriptionNow;
  }

  /**
   * Resolves when all workers reserve.
   *
   * @throws SolidJobsError after undoing everything; its code is `STOPPED` when `stop` was called meanwhile,
   * or before
   */
  start(): Promise<void> {
    this.starting ??= this.boot();
    return this.starting;
  }

  /** Finishes what runs within the timeout, puts back the rest, leaves. @throws nothing */
  async stop(): Promise<StopReport> {
    this.stopping ??= this.shutDown();
    return this.stopping;
  }

  /** A stop under way waits for no job any longer; without one, begins it. */
  async stopNow(): Promise<StopReport> {
    const stopped = this.stop();
    this.node?.hurry();
    return stopped;
  }

  /** Nothing more is reserved; running jobs go on. Cannot be taken back. */
  quiet(): void {
    this.logger.info("quiet: nothing more is reserved");
    this.isQuiet = true;
    this.node?.quiet();
  }

  /** Every worker, slot, job and age, for the log. */
  report(): void {
    if (this.node !== undefined)
      for (const line of reporting().nodeReport(this.node)) this.logger.info(line.message, line.fields);
  }

  /**
   * A new incarnation with freshly loaded modules, after the running jobs have ended or their time is up.
   *
   * @throws ConfigurationError when the modules do not load; the present incarnation goes on then
   */
  async restart(): Promise<void> {
    await this.replaceNode("the modules changed");
  }

  private async boot(): Promise<void> {
    this.refuseWhenStopping();
    try {
      const { version, tasks } = await this.openedAndLoaded();
      await this.startNode(version, tasks);
    } catch (error) {
      await threads().endPreparedThreads();
      this.refuseWhenStopping(); // what failed was stopped
      await this.store?.close();
      this.finish(1);
      throw error;
    }
  }

  /** Side by side, since either waits: the store for the network, the modules for their thread. */
  private async openedAndLoaded(): Promise<{ version: string; tasks: LoadedTasks }> {
    this.store = storeFor(this.settings);
    const failing = new AbortController();
    const loading = this.loadTasks(AbortSignal.any([this.interrupting.signal, failing.signal]));
    loading.catch(() => "told below, or the store's failure is");
    try {
      for (const role of ["pulse", "worker"] as const) threads().prepareThread(role);
      const { version, warnings } = await this.store.open();
      for (const warning of warnings) this.logger.warn(warning);
      return { version, tasks: await loading };
    } catch (error) {
      failing.abort();
      await Promise.allSettled([loading]);
      throw error;
    }
  }

  private async loadTasks(signal = this.interrupting.signal): Promise<LoadedTasks> {
    const tasks = this.ownTasks ?? (await probing().loadedTasks(this.settings, signal));
    if (tasks.length > 0) return tasks;
    throw new ConfigurationError(
      "a node without tasks would fail every job it takes: give it modules with require: [...]",
      { code: "MODULE" },
    );
  }

  private refuseWhenStopping(): void {
    if (this.interrupting.signal.aborted)
      throw new SolidJobsError("STOPPED", "the node was stopped before it had started");
  }

  private async startNode(version: string, tasks: LoadedTasks): Promise<void> {
    const { settings, store } = this;
    this.refuseWhenStopping();
    if (store === undefined) throw new SolidJobsError("NOT_STARTED", "the node has not started yet");
    const channels = servedChannels(settings, tasks);
    const node = new (nodes().Node)({
      settings,
      store,
      channels,
      logger: this.logger,
      onSignal: (signal) => this.obey(signal),
      onDeclaredDead: (silentMs) => void this.rise(node, silentMs),
      onFatal: (error) => void this.fail(error),
      onSlotsHint: () => this.hintAtSlots(),
    });
    this.node = node;
    if (this.isQuiet) node.quiet();
    await node.start();
    this.descriptionNow = {
      identity: node.identity,
      store: store.address,
      version,
      workers: settings.concurrency,
      slots: settings.slots,
      channels,
      tasks: tasks.map(({ name }) => name),
    };
  }

  private async shutDown(): Promise<StopReport> {
    this.interrupting.abort();
    const busy = this.node?.board.busy ?? 0;
    this.logger.info("stopping", { running: busy, timeout_s: this.settings.timeout });
    const report = (await this.node?.stop(this.settings.timeout)) ?? nothingRan;
    await this.store?.close(); // ends what a start or a restart still waits for
    await Promise.allSettled([this.starting, this.changing]);
    if (report.requeued > 0) this.logger.warn(`put back ${report.requeued} jobs that had not ended`);
    if (report.heldWorkers.length > 0) {
      this.logger.error("native calls still hold workers", { workers: report.heldWorkers });
    }
    this.logger.info("stopped", { requeued: report.requeued });
    this.finish(report.hasLeft && !this.hasFailed ? 0 : 1);
    return report;
  }

  /** Begins again under a new identity, once for each incarnation that others have declared dead. */
  private async rise(dead: Node, silentMs: number): Promise<void> {
    if (this.node !== dead || this.stopping !== undefined) return;
    this.logger.warn(
      `this node was declared dead, or its record removed, after ${(silentMs / 1000).toFixed(1)} s of silence: its jobs run elsewhere, it begins again`,
      { node: dead.identity },
    );
    dead.hurry();
    void dead.stop(this.settings.timeout); // at once: its jobs run elsewhere
    try {
      await this.replaceNode("declared dead", dead);
    } catch (thrown) {
      if (this.stopping === undefined) await this.fail(toError(thrown));
    }
  }

  /** One change at a time. The modules are loaded first, so that a fault in one stops nothing. */
  private replaceNode(reason: string, replaced?: Node): Promise<void> {
    const change = this.changing.then(async () => {
      await this.starting;
      if (this.stopping !== undefined) return;
      if (replaced !== undefined && this.node !== replaced) return; // another change has done it
      const tasks = await this.loadTasks();
      await this.node?.stop(this.settings.timeout);
      this.logger.info(`beginning again: ${reason}`);
      await this.startPatiently(tasks);
    });
    this.changing = change.catch(() => {});
    return change;
  }

  /** A store that is away for a moment does not end a node that ran already. */
  private async startPatiently(tasks: LoadedTasks): Promise<void> {
    for (let failures = 0; this.stopping === undefined; failures++) {
      try {
        return await this.startNode(this.descriptionNow?.version ?? "", tasks);
      } catch (error) {
        if (this.stopping !== undefined) return;
        if (!(error instanceof StoreUnavailable)) throw error;
        if (failures === 0)
          this.logger.warn(`the node begins again as soon as the store answers: ${error.message}`);
        await pause(Math.min(100 * 2 ** failures, 2000), this.interrupting.signal);
      }
    }
  }

  private async fail(error: Error): Promise<void> {
    this.logger.error(`the node cannot go on: ${error.message}`, { error });
    this.hasFailed = true;
    await this.stop();
  }

  private obey(signal: NodeSignal): void {
    this.logger.info("remote control", { signal });
    if (signal === "TSTP") this.quiet();
    else if (signal === "TTIN") this.report();
    else void this.stop();
  }

  private hintAtSlots(): void {
    if (this.hasHinted) return;
    this.hasHinted = true;
    this.logger.warn(
      "jobs wait while the workers mostly sit in awaits: more of them run at once with --slots (for example --slots 25)",
    );
  }
}

const nothingRan: StopReport = { requeued: 0, heldWorkers: [], hasLeft: true };

function resolved(options: ConductorOptions): ResolvedConductorOptions & { readonly logger: Logger } {
  if ("settings" in options && typeof options.settings === "object") {
    const given = options as ResolvedConductorOptions;
    return { ...given, logger: given.logger ?? createLogger({ level: given.settings.logLevel }) };
  }
  const { logger, ...given } = options as GivenSettings & { logger?: Logger };
  const settings = resolving().settingsFrom({ given: { ...processConfiguration().given, ...given } });
  return { settings, logger: logger ?? createLogger({ level: settings.logLevel }) };
}

/** As set; else `default` and every channel that a task names. */
function servedChannels(settings: Settings, tasks: LoadedTasks): readonly ChannelWeight[] {
  if (settings.channels.length > 0) return settings.channels;
  return [...new Set(["default", ...tasks.map(({ channel }) => channel)])].map((name) => ({
    name,
    weight: 1,
  }));
}
