import { channels } from "./channels.ts";
import type { Dimension } from "./dimension.ts";
import { due } from "./due.ts";
import { nodes } from "./nodes.ts";
import { parked } from "./parked.ts";
import { payload } from "./payload.ts";
import { ready } from "./ready.ts";
import { recovery } from "./recovery.ts";
import { slots } from "./slots.ts";
import { workers } from "./workers.ts";

/** All of them, in the order in which they are measured and reported. */
export const dimensions: readonly Dimension[] = [
  ...[ready, parked, due, workers, slots, nodes, channels, payload, recovery],
];
