import type { ChannelWeight, Settings } from "../config/settings.ts";
import type { RecoverReply } from "../store/store.ts";

/** What a worker thread is made with. */
export interface WorkerInit {
  readonly settings: Settings;
  readonly node: string;
  readonly executor: string;
  readonly generation: string;
  /** What the tokens of its claims begin with; used by no other thread. */
  readonly tokenBase: string;
  /** Its place on the board. */
  readonly worker: number;
  readonly board: SharedArrayBuffer;
  readonly channels: readonly ChannelWeight[];
}

/** From the conductor to a worker. */
export type ToWorker =
  /** All are ready and the node's beat is stored: reserve. */
  | { readonly type: "go" }
  /** Reserve nothing more; run the `quiet` callbacks. */
  | { readonly type: "quiet" }
  /** Reserve nothing more, finish, settle, run `shutdown`, say `drained`, end. */
  | { readonly type: "drain" }
  /** The node has work again, this worker or others: watch the loop closely. */
  | { readonly type: "stir" }
  /** Abort the signals of running jobs. */
  | { readonly type: "abort"; readonly reason: string }
  | { readonly type: "recovered"; readonly jobs: RecoverReply["recovered"] };

/** From a worker to the conductor. */
export type FromWorker =
  | { readonly type: "ready" }
  | { readonly type: "failed"; readonly code: string; readonly message: string }
  | { readonly type: "slots-hint" }
  | { readonly type: "drained" }
  /** Its loop failed: the thread ends. */
  | { readonly type: "broken"; readonly message: string }
  /** Its generation is no longer the present one although nobody retired it. */
  | { readonly type: "retired" };

/** What the throw-away worker that loads the modules first finds. */
export type FromProbe =
  | {
      readonly type: "loaded";
      readonly tasks: readonly { readonly name: string; readonly channel: string }[];
    }
  | { readonly type: "failed"; readonly code: string; readonly message: string };
