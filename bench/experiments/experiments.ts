import { anatomy } from "./anatomy.ts";
import { attempts } from "./attempts.ts";
import { claimRecords } from "./claim-records.ts";
import { claimedLists } from "./claimed-lists.ts";
import { connections } from "./connections.ts";
import type { Experiment } from "./experiment.ts";
import { formerScript } from "./former-script.ts";
import { functions } from "./functions.ts";
import { fused } from "./fused.ts";
import { ioThreads } from "./io-threads.ts";
import { listeners } from "./listeners.ts";
import { lookAhead, lookAheadOfLong } from "./look-ahead.ts";
import { messagePack } from "./message-pack.ts";
import { slotsInOneCall } from "./slots-in-one-call.ts";
import { unlink } from "./unlink.ts";
import { wakeUp } from "./wake-up.ts";
import { writingAtOnce } from "./writing-at-once.ts";

export const experiments: readonly Experiment[] = [
  ...[anatomy, wakeUp],
  ...[attempts, claimRecords, claimedLists, formerScript, fused, slotsInOneCall],
  ...[functions, unlink, messagePack],
  ...[lookAhead, lookAheadOfLong, writingAtOnce, listeners, connections, ioThreads],
];
