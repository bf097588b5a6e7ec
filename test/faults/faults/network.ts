import type { Fault } from "../fault.ts";
import type { Random } from "../random.ts";
import type { World } from "../world/world.ts";

const redisOnly = ["redis"] as const;
/** How long a command is waited for whose reply is to be lost. */
const lossMs = 2500;

/** A state of the network that lasts a while. */
function spell(
  name: string,
  does: string,
  [low, high]: [number, number],
  begin: (world: World, random: Random) => void,
): Fault {
  return {
    name,
    does,
    engines: redisOnly,
    takesMs: (low + high) / 2 + 300,
    async strike(world, random) {
      await world.victim();
      await world.struck(name, "all", async () => {
        begin(world, random);
        await Bun.sleep(random.int(low, high));
        world.redis.proxy.heal();
      });
    },
  };
}

/** What happens between nodes and Redis. */
export const networkFaults: readonly Fault[] = [
  spell("net-cut", "ends all connections", [0, 50], ({ redis }) => redis.proxy.cut()),
  spell("net-delay", "lets replies come late", [500, 2000], ({ redis }, random) =>
    redis.proxy.delay(random.int(20, 700)),
  ),
  spell("net-truncate", "ends each connection in the middle of a reply", [100, 600], ({ redis }) =>
    redis.proxy.truncate(),
  ),
  spell("net-half-close", "closes the server's side of each connection", [50, 300], ({ redis }) =>
    redis.proxy.halfClose(),
  ),
  spell(
    "net-hold",
    "keeps all replies back, sometimes longer than a command waits",
    [300, 6500],
    ({ redis }) => redis.proxy.hold(),
  ),
  spell("net-swallow", "swallows all replies for a while", [100, 2500], ({ redis }) => redis.proxy.swallow()),
  {
    name: "lost-reply",
    does: "loses the replies to commands that the server executed, each command in turn",
    engines: redisOnly,
    takesMs: 2500,
    weight: 20,
    async strike(world, random) {
      for (let times = random.int(3, 6); times > 0; times--) await loseOne(world, random);
    },
  },
];

/** What makes nodes ask what they ask rarely. */
const provocations: Record<string, (world: World) => Promise<unknown>> = {
  register: killOne,
  grant: killOne,
  recover: killOne,
  revoke: (world) => world.publish("process-exit", 1),
  "claimed-bytes": (world) => world.publish("process-exit", 1),
  "show-running": (world) => world.publish("long", 1),
  reconcile: async ({ redis }) => redis.proxy.cut(),
};

async function killOne(world: World): Promise<void> {
  const victim = await world.victim();
  await world.struck("sigkill", [victim.name], () => world.fleet.kill(victim), { isFatal: true });
}

/** Of one command that was asked before, or can be provoked. */
async function loseOne(world: World, random: Random): Promise<void> {
  await world.victim();
  const { proxy } = world.redis;
  const chosen = random.pick([...new Set([...proxy.asked.keys(), ...Object.keys(provocations)])].sort());
  const isCut = random.chance(0.8);
  const losing = proxy.loseReply((name) => name === chosen, { isCut });
  await provocations[chosen]?.(world);
  const reply = await Promise.race([losing, Bun.sleep(lossMs)]);
  proxy.disarm();
  if (reply?.wasExecuted !== true) return; // nobody asked it in that time, or the server refused it
  const at = Date.now();
  world.strikes.push({ fault: "lost-reply", at, until: at, scope: "all", detail: chosen });
}
