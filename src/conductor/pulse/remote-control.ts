import type { Logger } from "../../instrumentation/logger.ts";
import type { NodeSignal, Store } from "../../store/store.ts";
import { Duty } from "./duty.ts";

const intervalMs = 1000;

/** Takes the control requests that others left for this node: quiet, stop, report. */
export function startRemoteControl(parts: {
  store: Store;
  node: string;
  logger: Logger;
  onSignal: (signal: NodeSignal) => void;
}): Duty {
  return new Duty("remote control", parts.logger, async () => {
    for (const signal of await parts.store.takeSignals(parts.node)) parts.onSignal(signal);
    return intervalMs;
  });
}
