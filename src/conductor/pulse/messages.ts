import type { ChannelWeight, Settings } from "../../config/settings.ts";
import type { LivenessProof } from "../../store/liveness.ts";
import type { NodeSignal, RecoverReply } from "../../store/store.ts";

export interface PulseInit {
  readonly settings: Settings;
  readonly node: string;
  readonly proof: LivenessProof;
  readonly board: SharedArrayBuffer;
  readonly channels: readonly ChannelWeight[];
}

/** From the conductor to the pulse. */
export type ToPulse =
  /** Stop waking workers; beat on, so that nobody takes this node for dead while it finishes. */
  { readonly type: "quiet" } | { readonly type: "stop" };

/** From the pulse to the conductor. */
export type FromPulse =
  /** The first beat was accepted. */
  | { readonly type: "beating" }
  | { readonly type: "failed"; readonly message: string }
  /** This node was declared dead: its identity never comes back. */
  | { readonly type: "declared-dead"; readonly silentMs: number }
  | { readonly type: "signal"; readonly signal: NodeSignal }
  | { readonly type: "recovered"; readonly jobs: RecoverReply["recovered"] };
