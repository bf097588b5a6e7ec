import { adoptSettings } from "../../config/process.ts";
import { threadLogger } from "../../config/thread-parts.ts";
import { toError } from "../../foundation/errors.ts";
import { storeFor } from "../../store/open.ts";
import { Board } from "../../worker/board.ts";
import { collectSmallHeap } from "../../worker/idle-collector.ts";
import { GiveBack } from "./give-back.ts";
import { Heartbeat } from "./heartbeat.ts";
import type { FromPulse, PulseInit, ToPulse } from "./messages.ts";
import { Recoverer } from "./recoverer.ts";
import { startRemoteControl } from "./remote-control.ts";
import { startScheduler } from "./scheduler.ts";
import { ChannelWaker } from "./waker.ts";

/** What loading left behind goes when the start is over. */
const collectAfterMs = 1500;

/**
 * The node's clocked duties, in a thread of their own, so that they go on while the application's main
 * thread is blocked: heartbeat, scheduler, recovery, remote control, giving back
 * claims that cannot begin, waking idle workers. Each is one file.
 */
export class PulseProgram {
  private readonly init: PulseInit;
  private readonly say: (message: FromPulse) => void;
  private readonly stopped = Promise.withResolvers<void>();
  private quiet: () => void = () => {};

  constructor(init: PulseInit, say: (message: FromPulse) => void) {
    this.init = init;
    this.say = say;
    adoptSettings(init.settings);
  }

  obey(message: ToPulse): void {
    if (message.type === "quiet") this.quiet();
    else this.stopped.resolve();
  }

  async run(): Promise<void> {
    try {
      await this.pulse();
    } catch (thrown) {
      this.say({ type: "failed", message: toError(thrown).message });
    }
  }

  private async pulse(): Promise<void> {
    const { settings, node, proof, channels } = this.init;
    const logger = threadLogger();
    const store = storeFor(settings);
    const board = Board.over(this.init.board, settings);
    const accepted = Promise.withResolvers<void>();
    const heartbeat = new Heartbeat({
      store,
      node,
      board,
      ttl: settings.ttl,
      logger,
      onAccepted: accepted.resolve,
      onRefused: (silentMs) => this.say({ type: "declared-dead", silentMs }),
    });
    await Promise.race([accepted.promise, this.stopped.promise]);
    this.say({ type: "beating" });
    const duties = [
      startScheduler(store, logger),
      new Recoverer({
        store,
        node,
        proof,
        logger,
        onRecovered: (jobs) => this.say({ type: "recovered", jobs }),
      }),
      new GiveBack({ store, node, board, slots: settings.slots, logger }),
      startRemoteControl({ store, node, logger, onSignal: (signal) => this.say({ type: "signal", signal }) }),
    ];
    const wakers = channels.map(({ name }) => new ChannelWaker({ store, channel: name, board, logger }));
    this.quiet = () => void Promise.all(wakers.map((waker) => waker.stop()));
    const collection = setTimeout(collectSmallHeap, collectAfterMs);
    await this.stopped.promise;
    clearTimeout(collection);
    await Promise.race([
      Promise.all([heartbeat, ...duties, ...wakers].map((duty) => duty.stop())),
      Bun.sleep(500), // a store that is silent now does not hold up the end
    ]);
    await store.close();
  }
}
