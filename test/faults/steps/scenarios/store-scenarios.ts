import type { ChannelWaiter, Store } from "../../../../src/store/store.ts";
import { beginningAlone, cycling, readingClaims, reconciling, showing } from "./cycling.ts";
import {
  beating,
  closing,
  identifying,
  opening,
  promoting,
  recovering,
  registering,
  revoking,
  sighting,
  sightingOrphans,
  signalling,
  waitingForWork,
} from "./living.ts";
import { barring, publishing } from "./publishing.ts";
import type { MethodsOf, Scenario } from "./scenario.ts";

/** What calls each method of a store. */
export const storeScenarios = {
  open: opening,
  close: opening,
  publish: publishing,
  releaseBarrier: barring,
  cycle: cycling,
  claimedBytes: readingClaims,
  beginAlone: beginningAlone,
  reconcile: reconciling,
  showRunning: showing,
  waiter: waitingForWork,
  register: registering,
  grant: registering,
  revoke: revoking,
  beat: beating,
  serverIdentity: identifying,
  takeSignals: signalling,
  promoteDue: promoting,
  sightNodes: sighting,
  sightOrphans: sightingOrphans,
  recover: recovering,
  closeForReservations: closing,
  leave: closing,
} satisfies Record<MethodsOf<Store>, readonly Scenario[]>;

export const waiterScenarios = {
  wait: waitingForWork,
  close: waitingForWork,
} satisfies Record<MethodsOf<ChannelWaiter>, readonly Scenario[]>;
