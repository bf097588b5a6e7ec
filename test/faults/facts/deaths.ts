import type { SiteEngine } from "../../support/site.ts";
import type { Fact } from "./facts.ts";
import { begun, stage } from "./stage.ts";

const both = ["redis", "sqlite"] as const;
const namespace = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];

/** A judge must have beaten without a gap for ten seconds before it goes by age. */
const steadyMs = 11_000;

interface Death {
  readonly wrapper?: readonly string[];
  readonly ttl?: number;
}

/** From a node's SIGKILL to the beginning of its job elsewhere. */
async function deathMs(engine: SiteEngine, { wrapper = [], ttl }: Death): Promise<number> {
  const env = ttl === undefined ? {} : { SOLID_JOBS_TTL: String(ttl) };
  const world = await stage({ engine, nodes: [{ wrapper, env }] });
  try {
    const [id = ""] = await world.publish("sleeping", 1, { ms: 100_000 });
    const { node } = await begun(world, id);
    const other = await world.fleet.add({});
    if (wrapper.length > 0) await Bun.sleep(steadyMs);
    await Bun.sleep(1000 * Math.random()); // at any moment of the others' rounds
    const victim = world.fleet.living.find(({ name }) => name === node);
    if (victim === undefined || victim === other) throw new Error(`${node} is not there to be killed`);
    victim.seat.isClosed = true;
    const at = Date.now();
    await world.fleet.kill(victim);
    return (await begun(world, id, 1)).beganAt - at;
  } finally {
    await world.close();
  }
}

const noNamespace = () =>
  Bun.spawnSync([...namespace, "true"]).exitCode === 0 ? undefined : "needs unshare and the right to use it";

export const deathFacts: readonly Fact[] = [
  {
    what: "SIGKILL to re-execution, same machine",
    engines: both,
    times: 10,
    goalMs: 2000,
    measure: (engine) => deathMs(engine, {}),
  },
  {
    what: "SIGKILL to re-execution, another machine (a pid namespace), ttl 15 s (default)",
    engines: ["redis"],
    times: 3,
    goalMs: 20_000,
    reasonAgainst: noNamespace,
    measure: (engine) => deathMs(engine, { wrapper: namespace }),
  },
  {
    what: "SIGKILL to re-execution, another machine (a pid namespace), ttl 1 s",
    engines: ["redis"],
    times: 3,
    goalMs: 6000,
    reasonAgainst: noNamespace,
    measure: (engine) => deathMs(engine, { wrapper: namespace, ttl: 1 }),
  },
  {
    what: "SIGKILL to re-execution, another container that shares the file (a pid namespace)",
    engines: ["sqlite"],
    times: 3,
    goalMs: 6000,
    reasonAgainst: noNamespace,
    measure: (engine) => deathMs(engine, { wrapper: namespace }),
  },
];
