import type { Fact } from "./facts.ts";
import { stage } from "./stage.ts";

/** From the moment that Redis takes connections again to the first job that begins. */
async function resumeMs(downMs: number): Promise<number> {
  const world = await stage({ engine: "redis", nodes: [{ args: ["-c", "2", "--channel", "default"] }, {}] });
  try {
    await world.publish("sleeping", 500, { ms: 20 });
    await world.victim();
    await world.redis.server.kill();
    await Bun.sleep(downMs);
    const before = world.ledger.refresh().runs.length;
    await world.redis.server.restart();
    const at = Date.now();
    for (;;) {
      const next = world.ledger.refresh().runs[before];
      if (next !== undefined) return next.beganAt - at;
      await Bun.sleep(1);
    }
  } finally {
    await world.close();
  }
}

export const outageFacts: readonly Fact[] = [
  {
    what: "Redis is back to the first job, after 3 s away",
    engines: ["redis"],
    times: 7,
    goalMs: 2000,
    measure: () => resumeMs(3000),
  },
  {
    what: "Redis is back to the first job, after 40 s away",
    engines: ["redis"],
    times: 3,
    goalMs: 2000,
    measure: () => resumeMs(40_000),
  },
];
