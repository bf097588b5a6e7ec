import type { SiteEngine } from "../../support/site.ts";
import type { Fact } from "./facts.ts";
import { begun, stage } from "./stage.ts";

const both = ["redis", "sqlite"] as const;

/** From SIGTERM to the end of the process, with a timeout of 2 s. */
async function stopMs(engine: SiteEngine, kind?: string): Promise<number> {
  const world = await stage({ engine, nodes: [{ args: ["-c", "2", "-t", "2", "--channel", "default"] }] });
  try {
    if (kind !== undefined) {
      const ids = await world.publish(kind, 2, { ms: kind === "burning" ? 60_000 : 100_000 });
      for (const id of ids) await begun(world, id);
    }
    const [node] = world.fleet.living;
    if (node === undefined) throw new Error("there is no node to stop");
    node.seat.isClosed = true;
    world.fleet.expectEnd(node);
    const at = performance.now();
    await node.process.stop();
    return performance.now() - at;
  } finally {
    await world.close();
  }
}

/** From the beginning of a job that spins, with a timeout of 0.2 s, to its next attempt on a new thread. */
async function spinMs(engine: SiteEngine): Promise<number> {
  const world = await stage({ engine, nodes: [{}] });
  try {
    const [id = ""] = await world.publish("endless-loop", 1, { ms: 1 });
    const { beganAt } = await begun(world, id);
    const [node] = world.fleet.living;
    await node?.process.until("jobs ran past their timeouts");
    return Date.now() - beganAt;
  } finally {
    await world.close();
  }
}

export const stopFacts: readonly Fact[] = [
  { what: "SIGTERM to the end, idle", engines: both, times: 5, measure: (engine) => stopMs(engine) },
  {
    what: "SIGTERM to the end, with jobs that wait for a minute, timeout 2 s",
    engines: both,
    times: 5,
    goalMs: 7000,
    measure: (engine) => stopMs(engine, "sleeping"),
  },
  {
    what: "SIGTERM to the end, with jobs that compute for a minute, timeout 2 s",
    engines: both,
    times: 3,
    goalMs: 7000,
    measure: (engine) => stopMs(engine, "burning"),
  },
  {
    what: "a spinning job with a timeout of 0.2 s to the end of its thread",
    engines: both,
    times: 3,
    goalMs: 6000,
    measure: spinMs,
  },
];
