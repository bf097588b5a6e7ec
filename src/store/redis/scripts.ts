import beatText from "../../../lua/beat.lua" with { type: "text" };
import beginAloneText from "../../../lua/begin-alone.lua" with { type: "text" };
import claimedBytesText from "../../../lua/claimed-bytes.lua" with { type: "text" };
import cycleText from "../../../lua/cycle.lua" with { type: "text" };
import grantText from "../../../lua/grant.lua" with { type: "text" };
import promoteText from "../../../lua/promote.lua" with { type: "text" };
import publishText from "../../../lua/publish.lua" with { type: "text" };
import reconcileText from "../../../lua/reconcile.lua" with { type: "text" };
import recoverText from "../../../lua/recover.lua" with { type: "text" };
import registerText from "../../../lua/register.lua" with { type: "text" };
import revokeText from "../../../lua/revoke.lua" with { type: "text" };
import showRunningText from "../../../lua/show-running.lua" with { type: "text" };
import takeSignalsText from "../../../lua/take-signals.lua" with { type: "text" };
import { defineScript } from "./script.ts";

/** The scripts of the runtime; each file's head says what it does, takes and returns. */
export const scripts = {
  beat: defineScript("beat", beatText),
  beginAlone: defineScript("begin-alone", beginAloneText),
  claimedBytes: defineScript("claimed-bytes", claimedBytesText),
  cycle: defineScript("cycle", cycleText),
  grant: defineScript("grant", grantText),
  promote: defineScript("promote", promoteText),
  publish: defineScript("publish", publishText),
  reconcile: defineScript("reconcile", reconcileText),
  recover: defineScript("recover", recoverText),
  register: defineScript("register", registerText),
  revoke: defineScript("revoke", revokeText),
  showRunning: defineScript("show-running", showRunningText),
  takeSignals: defineScript("take-signals", takeSignalsText),
};
