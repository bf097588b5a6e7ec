import type { Fault } from "../fault.ts";
import type { World } from "../world/world.ts";

const both = ["redis", "sqlite"] as const;

/** The longest that a node frozen beyond its ttl is left so, while others wait to be sure enough to take its jobs. */
const longestFreezeMs = 25_000;

const isLong = ({ key }: { key: string }) => key.startsWith("long/");

async function freezeUntilTakenOver(world: World): Promise<void> {
  // What it ran ends as it wakes, and what was taken over runs on: its settlement comes at the worst time.
  await world.publish("long", 3);
  const victim = await world.victim((node) => world.ledger.running(node.name).some(isLong));
  victim.process.signal("SIGSTOP");
  const at = Date.now();
  const held = world.ledger.running(victim.name).filter(isLong);
  const isTakenOver = () => {
    world.ledger.refresh();
    const others = new Set(
      world.ledger.runs
        .filter(({ node, beganAt }) => node !== victim.name && beganAt > at)
        .map(({ id }) => id),
    );
    return held.length > 0 && held.every(({ id }) => others.has(id));
  };
  const endsAt = performance.now() + longestFreezeMs;
  while (!isTakenOver() && performance.now() < endsAt) await Bun.sleep(20);
  victim.process.signal("SIGCONT");
  world.strikes.push({ fault: "sigstop", at, until: Date.now(), scope: [victim.name] });
}

/** What happens to processes. */
export const processFaults: readonly Fault[] = [
  {
    name: "sigkill",
    does: "kills a node that runs jobs",
    engines: both,
    takesMs: 700,
    weight: 20,
    async strike(world) {
      const victim = await world.victim();
      await world.struck("sigkill", [victim.name], () => world.fleet.kill(victim), { isFatal: true });
    },
  },
  {
    name: "sigkill-elsewhere",
    does: "kills a node in a process namespace of its own, so that nobody has proof: only its silence tells",
    engines: both,
    takesMs: 4000,
    weight: 3,
    once: "sigkill-elsewhere",
    reasonAgainst: () => {
      const line = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child", "true"];
      const isPossible = Bun.which("unshare") !== null && Bun.spawnSync(line).exitCode === 0;
      return isPossible ? undefined : "needs unshare and the right to use it";
    },
    async strike(world) {
      const wrapper = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"];
      const there = await world.fleet.restartAs(await world.victim(), { wrapper });
      await world.victim((node) => node === there);
      await world.struck("sigkill-elsewhere", [there.name], () => world.fleet.kill(there), { isFatal: true });
      there.seat.setup = { ...there.seat.setup, wrapper: [] };
    },
  },
  {
    name: "sigstop",
    does: "freezes a node beyond its ttl, until others have taken its jobs (Redis); it wakes to find them gone",
    engines: ["redis"],
    takesMs: 14_000,
    weight: 4,
    once: "sigstop",
    strike: freezeUntilTakenOver,
  },
  {
    name: "sigstop-short",
    does: "freezes a node for twice its ttl and more",
    engines: both,
    takesMs: 3000,
    harmlessOn: ["sqlite"], // nobody is judged by its silence there
    async strike(world, random) {
      const victim = await world.victim();
      await world.struck("sigstop-short", [victim.name], async () => {
        victim.process.signal("SIGSTOP");
        await Bun.sleep(random.int(2000, 3500));
        victim.process.signal("SIGCONT");
      });
    },
  },
  {
    name: "sigterm",
    does: "asks a node to stop while it runs jobs longer than its timeout",
    engines: both,
    takesMs: 3000,
    async strike(world) {
      await world.publish("long", 3);
      const victim = await world.victim((node) => world.ledger.running(node.name).some(isLong));
      const startedAt = performance.now();
      await world.struck("sigterm", [victim.name], async () => {
        world.fleet.expectEnd(victim);
        await victim.process.stop();
      });
      const tookMs = performance.now() - startedAt;
      if (tookMs > 7500)
        world.problems.push(`${victim.name} took ${Math.round(tookMs)} ms to stop, with a timeout of 1 s`);
    },
  },
];
