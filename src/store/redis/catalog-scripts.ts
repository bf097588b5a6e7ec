import channelsText from "../../../lua/catalog-channels.lua" with { type: "text" };
import claimsText from "../../../lua/catalog-claims.lua" with { type: "text" };
import countersText from "../../../lua/catalog-counters.lua" with { type: "text" };
import nodesText from "../../../lua/catalog-nodes.lua" with { type: "text" };
import pageText from "../../../lua/catalog-page.lua" with { type: "text" };
import pauseText from "../../../lua/catalog-pause.lua" with { type: "text" };
import purgeText from "../../../lua/catalog-purge.lua" with { type: "text" };
import signalText from "../../../lua/catalog-signal.lua" with { type: "text" };
import sweepText from "../../../lua/catalog-sweep.lua" with { type: "text" };
import { defineScript } from "./script.ts";

/** The scripts of inspection and administration; each file's head says what it does, takes and returns. */
export const catalogScripts = {
  channels: defineScript("catalog-channels", channelsText),
  claims: defineScript("catalog-claims", claimsText),
  counters: defineScript("catalog-counters", countersText),
  nodes: defineScript("catalog-nodes", nodesText),
  page: defineScript("catalog-page", pageText),
  pause: defineScript("catalog-pause", pauseText),
  purge: defineScript("catalog-purge", purgeText),
  signal: defineScript("catalog-signal", signalText),
  sweep: defineScript("catalog-sweep", sweepText),
};
