import type { Fault } from "../fault.ts";

const both = ["redis", "sqlite"] as const;

/** What goes wrong where code is loaded. */
export const deployFaults: readonly Fault[] = [
  {
    name: "slow-load",
    does: "kills a node whose next one takes a second to load its modules, and kills that while it loads",
    engines: both,
    takesMs: 2500,
    weight: 4,
    async strike(world, random) {
      const victim = await world.victim();
      const { setup } = victim.seat;
      victim.seat.setup = { ...setup, env: { ...setup.env, FAULTS_SLOW_LOAD_MS: "1000" } };
      await world.struck("slow-load", [victim.name], () => world.fleet.kill(victim), { isFatal: true });
      await world.until("the next node", () => victim.seat.node !== victim, 5000);
      await Bun.sleep(random.int(200, 900));
      victim.seat.setup = setup;
      if (victim.seat.node !== undefined) await world.fleet.kill(victim.seat.node);
    },
  },
  {
    name: "import-error",
    does: "ends a thread after a deploy whose module does not load: its node ends, and cannot start until the next deploy",
    engines: both,
    takesMs: 2500,
    weight: 4,
    async strike(world, random) {
      await world.victim();
      const from = Date.now();
      world.breakModule();
      const ids = new Set(await world.publish("process-exit", 1));
      const done = () => world.ledger.refresh().mischief.find(({ id }) => ids.has(id));
      await world.until("a job to end its thread", () => done() !== undefined, 30_000);
      const node = world.fleet.nodes.find(({ name }) => name === done()?.node);
      await world.struck("import-error", node === undefined ? [] : [node.name], async () => {
        await world.until("the node to end", () => node?.process.hasExited === true, 20_000);
        await Bun.sleep(random.int(100, 600));
      });
      world.repairModule();
      world.endings.push({ from, until: Date.now() + 3000 });
    },
  },
];
