import type { ChannelWeight, Settings } from "../config/settings.ts";
import { SolidJobsError, StoreUnavailable } from "../foundation/errors.ts";
import { pause, within } from "../foundation/time.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { LivenessProof } from "../store/liveness.ts";
import type { NodeSignal, RecoverReply } from "../store/store.ts";
import type { Board } from "../worker/board.ts";
import type { FromPulse, PulseInit, ToPulse } from "./pulse/messages.ts";
import { type Thread, type ThreadEnd, threadFor } from "./threads.ts";

export interface PulseOptions {
  readonly settings: Settings;
  readonly node: string;
  readonly proof: LivenessProof;
  readonly board: Board;
  readonly channels: readonly ChannelWeight[];
  readonly logger: Logger;
  readonly onSignal: (signal: NodeSignal) => void;
  readonly onDeclaredDead: (silentMs: number) => void;
  readonly onRecovered: (jobs: RecoverReply["recovered"]) => void;
}

/** How long the thread may take to end its calls before it is ended. */
const stopMs = 700;

/** The pulse as the conductor sees it: started, replaced when its thread dies, stopped. */
export class PulseThread {
  readonly options: PulseOptions;
  private thread: Thread<ToPulse, FromPulse> | undefined;
  private beating = Promise.withResolvers<void>();
  private isStopping = false;
  private hasBeaten = false;
  private isDeclaredDead = false;

  constructor(options: PulseOptions) {
    this.options = options;
  }

  /** Resolves when the store has accepted its first beat. */
  async start(): Promise<void> {
    if (this.isStopping) throw new SolidJobsError("STOPPED", "the node stops: it beats no more");
    const { settings, node, proof, board, channels } = this.options;
    this.beating = Promise.withResolvers();
    const init: PulseInit = { settings, node, proof, board: board.buffer, channels };
    const thread = threadFor<ToPulse, FromPulse>("pulse");
    this.thread = thread;
    thread.begin(init, (message) => this.hear(message));
    void thread.ended.then((end) => this.bury(thread, end));
    await this.beating.promise;
  }

  quiet(): void {
    this.thread?.send({ type: "quiet" });
  }

  async stop(): Promise<void> {
    this.isStopping = true;
    const { thread } = this;
    thread?.send({ type: "stop" });
    if (thread === undefined) return;
    const hasEnded = await within(
      stopMs,
      thread.ended.then(() => true),
      false,
    );
    if (!hasEnded) await thread.terminate(stopMs);
  }

  /** @throws StoreUnavailable when the node was declared dead meanwhile: only a new one may start */
  refuseWhenDead(): void {
    if (this.isDeclaredDead) throw declaredDead();
  }

  private hear(message: FromPulse): void {
    const { onSignal, onDeclaredDead, onRecovered } = this.options;
    switch (message.type) {
      case "beating":
        this.hasBeaten = true;
        return this.beating.resolve();
      case "failed":
        return this.beating.reject(new SolidJobsError("PULSE", message.message));
      case "declared-dead":
        this.isDeclaredDead = true;
        this.beating.reject(declaredDead());
        return onDeclaredDead(message.silentMs);
      case "signal":
        return onSignal(message.signal);
      case "recovered":
        return onRecovered(message.jobs);
    }
  }

  private async bury(thread: Thread<ToPulse, FromPulse>, end: ThreadEnd): Promise<void> {
    if (this.thread !== thread) return;
    this.thread = undefined;
    const reason = end.neverListened ?? end.reason ?? "its thread ended";
    const problem = end.neverListened ?? `the heartbeat's thread died: ${reason}`;
    this.beating.reject(new SolidJobsError("PULSE", problem));
    if (this.isStopping || !this.hasBeaten) return; // a start that fails is told to whoever started
    this.options.logger.error(`the heartbeat's thread died and is replaced: ${reason}`);
    await pause(200);
    if (!this.isStopping) await this.start().catch(() => {}); // told by the burial of the new one
  }
}

function declaredDead(): StoreUnavailable {
  return new StoreUnavailable(
    "the node was declared dead, or its record was removed, before it had started",
    {
      isSent: false,
    },
  );
}
