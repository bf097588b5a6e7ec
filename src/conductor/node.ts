import { availableParallelism, hostname } from "node:os";
import type { ChannelWeight, Settings } from "../config/settings.ts";
import { StoreUnavailable, toError } from "../foundation/errors.ts";
import { newNodeIdentity } from "../foundation/ids.ts";
import { pause, within } from "../foundation/time.ts";
import type { Logger } from "../instrumentation/logger.ts";
import { ownProof } from "../store/liveness.ts";
import type { NodeSignal, Store } from "../store/store.ts";
import { Board } from "../worker/board.ts";
import { nodeEnded, nodeLives, recoverEarlierSelves } from "./earlier-self.ts";
import { Overseer } from "./overseer.ts";
import { PulseThread } from "./pulse-thread.ts";
import { WorkerSeat } from "./worker-seat.ts";

export interface NodeOptions {
  readonly settings: Settings;
  readonly store: Store;
  readonly channels: readonly ChannelWeight[];
  readonly logger: Logger;
  readonly onSignal: (signal: NodeSignal) => void;
  /** Declared dead by others: this identity never comes back. */
  readonly onDeclaredDead: (silentMs: number) => void;
  readonly onFatal: (error: Error) => void;
  readonly onSlotsHint: () => void;
}

/** What a stop came to. */
export interface StopReport {
  /** Jobs that had not ended and were put back, uncounted; they run again elsewhere or later. */
  readonly requeued: number;
  /** Workers that a native call held longer than the stop could wait. */
  readonly heldWorkers: readonly number[];
  /** False when the store was silent: recovery will put back what is left. */
  readonly hasLeft: boolean;
}

const storeSilenceMs = 2000;
const afterAbortMs = 1000;
const askAgainMs = 50;

/**
 * One incarnation of a node: an identity, a board, a pulse and workers. It starts once and stops once.
 *
 *     start  register with the first beat -> the pulse beats, and a worker starts -> the other workers -> all go
 *     stop   nothing is reserved any more -> running jobs get the timeout -> their signals are aborted ->
 *            a second -> their threads are ended -> what remains is put back -> the node leaves
 */
export class Node {
  readonly identity = newNodeIdentity();
  readonly board: Board;
  /** Of each worker. */
  readonly slots: number;
  private readonly options: NodeOptions;
  private readonly seats: readonly WorkerSeat[];
  private readonly pulse: PulseThread;
  private overseer: Overseer | undefined;
  private stopping: Promise<StopReport> | undefined;
  private readonly hurrying = Promise.withResolvers<void>();

  constructor(options: NodeOptions) {
    const { settings, store, channels, logger } = options;
    this.options = options;
    this.board = Board.create(settings);
    this.slots = settings.slots;
    const { identity: node, board } = this;
    this.pulse = new PulseThread({
      ...options,
      node,
      board,
      proof: ownProof(),
      onDeclaredDead: (silentMs) => {
        // One that is starting fails by it; one that stops ends anyway.
        if (this.overseer !== undefined && this.stopping === undefined) options.onDeclaredDead(silentMs);
      },
      onRecovered: (jobs) => this.tellRecovered(jobs),
    });
    this.seats = Array.from({ length: settings.concurrency }, (_, worker) => {
      const { onSlotsHint, onFatal } = options;
      return new WorkerSeat({ settings, store, node, board, worker, channels, logger, onSlotsHint, onFatal });
    });
  }

  /**
   * Resolves when all workers reserve. When something fails, or it is stopped meanwhile, all of it is undone
   * before it rejects.
   */
  async start(): Promise<void> {
    try {
      nodeLives(this.identity);
      await this.register();
      await recoverEarlierSelves(this.options.store, this.identity);
      await Promise.all([this.pulse.start(), this.startSeats()]);
      this.pulse.refuseWhenDead();
    } catch (error) {
      await this.stop(0);
      throw error;
    }
    this.overseer = new Overseer({ board: this.board, seats: this.seats, logger: this.options.logger });
    for (const seat of this.seats) seat.go();
  }

  /** Nothing more is reserved; running jobs go on. */
  quiet(): void {
    this.board.setQuiet();
    if (this.overseer !== undefined) for (const seat of this.seats) seat.send({ type: "quiet" });
  }

  /** At most `timeoutSeconds` and five seconds, whatever the jobs do. The first call's timeout counts. */
  stop(timeoutSeconds: number): Promise<StopReport> {
    this.stopping ??= this.shutDown(timeoutSeconds * 1000);
    return this.stopping;
  }

  /** The running stop waits for no job any longer. */
  hurry(): void {
    this.hurrying.resolve();
  }

  private async register(): Promise<void> {
    const { settings, store, channels } = this.options;
    const proof = ownProof();
    await store.register({
      identity: this.identity,
      hostname: hostname(),
      startedAt: Date.now() / 1000,
      channels: channels.map(({ name }) => name),
      labels: settings.labels,
      concurrency: settings.concurrency * settings.slots,
      ttl: settings.ttl,
      ...proof,
    });
  }

  /** The first one alone, since what it fails of the others fail of too; then as many at a time as there are cores. */
  private async startSeats(): Promise<void> {
    const [first, ...others] = this.seats;
    await first?.start();
    const starters = Array.from({ length: availableParallelism() }, async () => {
      for (let seat = others.shift(); seat !== undefined; seat = others.shift()) await seat.start();
    });
    await Promise.all(starters);
  }

  private async shutDown(timeoutMs: number): Promise<StopReport> {
    const { store } = this.options;
    this.board.setQuiet();
    this.pulse.quiet();
    const closed = this.answered(() => store.closeForReservations(this.identity));
    const drained = Promise.all(this.seats.map((seat) => seat.drain()));
    await Promise.race([within(timeoutMs, drained, undefined), this.hurrying.promise]);
    this.abort();
    await within(afterAbortMs, drained, undefined);
    this.overseer?.stop();
    const heldWorkers = await this.endThreads();
    const isStoreUp = await closed;
    await this.pulse.stop();
    // One that was silent may be back by now; one that still is has had its time.
    const silenceMs = isStoreUp ? storeSilenceMs : storeSilenceMs / 2;
    const left = await this.answered(() => store.leave(this.identity), silenceMs);
    nodeEnded(this.identity);
    return { requeued: left?.value.requeued ?? 0, heldWorkers, hasLeft: left !== undefined };
  }

  private abort(): void {
    for (const seat of this.seats) {
      seat.send({ type: "abort", reason: "the node stops and the job's time for shutting down is over" });
    }
  }

  private async endThreads(): Promise<number[]> {
    const ended = await Promise.all(this.seats.map((seat) => seat.terminate()));
    return ended.flatMap((hasEnded, worker) => (hasEnded ? [] : [worker]));
  }

  /** Asks again after a lost reply. Undefined when the store does not answer in time, which is logged. */
  private async answered<T>(
    ask: () => Promise<T>,
    silenceMs = storeSilenceMs,
  ): Promise<{ value: T } | undefined> {
    const endsAt = performance.now() + silenceMs;
    for (;;) {
      try {
        const answer = ask().then((value) => ({ value }));
        const result = await within(endsAt - performance.now(), answer, undefined);
        if (result !== undefined) return result;
        throw new StoreUnavailable(`the store was silent for ${silenceMs} ms`, { isSent: true });
      } catch (thrown) {
        const error = toError(thrown);
        if (!(error instanceof StoreUnavailable) || performance.now() + askAgainMs > endsAt) {
          this.options.logger.error(`stopping without the store: ${error.message}`);
          return undefined;
        }
        await pause(askAgainMs);
      }
    }
  }

  private tellRecovered(jobs: Parameters<PulseThread["options"]["onRecovered"]>[0]): void {
    this.seats.find((seat) => seat.isTaken)?.send({ type: "recovered", jobs });
  }
}
