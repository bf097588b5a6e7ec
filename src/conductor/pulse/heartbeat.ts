import type { Logger } from "../../instrumentation/logger.ts";
import type { Store } from "../../store/store.ts";
import type { Board } from "../../worker/board.ts";
import { Duty } from "./duty.ts";

/** Protocol, section 6. */
const longestIntervalMs = 3000;
/** A short ttl needs a faster beat: one that is late, or lost, must not cost the node its life. */
const beatsInTtl = 5;

export interface HeartbeatOptions {
  readonly store: Store;
  readonly node: string;
  readonly board: Board;
  /** Seconds, as the node declared it. */
  readonly ttl: number;
  readonly logger: Logger;
  readonly onAccepted: () => void;
  /** The node is gone from the store or was declared dead; called once. */
  readonly onRefused: (silentMs: number) => void;
}

/** Beats every three seconds, or five times in a ttl that is short. A refused beat ends it: this identity never comes back. */
export class Heartbeat {
  private readonly options: HeartbeatOptions;
  private readonly intervalMs: number;
  private readonly duty: Duty;
  private server: string | undefined;
  private isRefused = false;

  constructor(options: HeartbeatOptions) {
    this.options = options;
    this.intervalMs = Math.min(longestIntervalMs, (options.ttl * 1000) / beatsInTtl);
    this.duty = new Duty("the heartbeat", options.logger, () => this.beat());
  }

  stop(): Promise<void> {
    return this.duty.stop();
  }

  private async beat(): Promise<number> {
    if (this.isRefused) return this.intervalMs;
    const { store, node, board } = this.options;
    const server = await store.serverIdentity();
    const isNewServer = this.server !== undefined && this.server !== server;
    const reply = await store.beat(node, { busy: board.busy, isQuiet: board.isQuiet, isNewServer });
    this.server = server;
    if (reply.isAlive) {
      this.options.onAccepted();
      return this.intervalMs;
    }
    this.isRefused = true;
    this.options.onRefused(reply.silentMs);
    return this.intervalMs;
  }
}
