import type { Fault } from "../fault.ts";
import type { Random } from "../random.ts";
import type { World } from "../world/world.ts";

const redisOnly = ["redis"] as const;

/** With `everysec` a crash of the server loses what it had not written, at most so much. */
const unsyncedMs = 2000;

async function killServer(world: World, random: Random, name: string, isForgetful: boolean): Promise<void> {
  await world.victim();
  const rollback = isForgetful ? { rollsBackSince: Date.now() - unsyncedMs } : {};
  await world.struck(
    name,
    "all",
    async () => {
      await world.redis.server.kill();
      await Bun.sleep(random.int(20, 1500));
      await world.redis.server.restart();
    },
    rollback,
  );
}

/** What the server does, or has done to it. */
export const redisFaults: readonly Fault[] = [
  {
    name: "redis-kill-everysec",
    does: "kills Redis and starts it again, with appendfsync everysec",
    engines: redisOnly,
    alone: "server",
    takesMs: 2000,
    needs: { appendOnly: "everysec", hasReplica: false },
    strike: (world, random) => killServer(world, random, "redis-kill-everysec", true),
  },
  {
    name: "redis-kill-always",
    does: "kills Redis and starts it again, with appendfsync always",
    engines: redisOnly,
    alone: "server",
    takesMs: 2000,
    needs: { appendOnly: "always", hasReplica: false },
    strike: (world, random) => killServer(world, random, "redis-kill-always", false),
  },
  {
    name: "client-kill",
    does: "lets the server end all connections",
    engines: redisOnly,
    alone: "server",
    takesMs: 500,
    async strike(world) {
      await world.victim();
      await world.struck("client-kill", "all", () =>
        world.redis.server.send("CLIENT", "KILL", "TYPE", "normal"),
      );
    },
  },
  {
    name: "script-flush",
    does: "lets the server forget its scripts, several times",
    engines: redisOnly,
    alone: "server",
    takesMs: 600,
    harmlessOn: redisOnly,
    async strike(world, random) {
      await world.victim();
      await world.struck("script-flush", "all", async () => {
        for (let times = random.int(3, 20); times > 0; times--) {
          await world.redis.server.send("SCRIPT", "FLUSH");
          await Bun.sleep(random.int(1, 30));
        }
      });
    },
  },
  {
    name: "client-pause",
    does: "lets the server hold all commands, or all that write, for up to two seconds",
    engines: redisOnly,
    alone: "server",
    takesMs: 1500,
    async strike(world, random) {
      const pauseMs = random.int(200, 2000);
      await world.victim();
      await world.struck("client-pause", "all", async () => {
        await world.redis.server.send("CLIENT", "PAUSE", pauseMs, random.pick(["ALL", "WRITE"]));
        await Bun.sleep(pauseMs);
      });
    },
  },
  {
    name: "stall",
    does: "stops the server without closing connections, sometimes for longer than a command waits",
    engines: redisOnly,
    alone: "server",
    takesMs: 2000,
    async strike(world, random) {
      await world.victim();
      await world.struck("stall", "all", async () => {
        world.redis.server.freeze();
        await Bun.sleep(random.chance(0.2) ? 6000 : random.int(300, 2500));
        world.redis.server.resume();
      });
    },
  },
  {
    name: "maxmemory",
    does: "leaves the server no memory: publishing is refused with STORE_FULL, settling goes on",
    engines: redisOnly,
    alone: "server",
    takesMs: 2000,
    harmlessOn: redisOnly,
    async strike(world) {
      await world.publish("sleeping", 60, { ms: 20 });
      await world.victim();
      await world.struck("maxmemory", "all", async () => {
        await world.redis.server.send("CONFIG", "SET", "maxmemory", "1mb");
        await world.mustRefuse("STORE_FULL");
        await settlesWhileFull(world);
        await world.redis.server.send("CONFIG", "SET", "maxmemory", "0");
      });
    },
  },
  {
    name: "read-only",
    does: "makes the server a replica of nobody for a while: writes get READONLY",
    engines: redisOnly,
    alone: "server",
    takesMs: 1500,
    needs: { hasReplica: false },
    async strike(world, random) {
      await world.victim();
      await world.struck("read-only", "all", async () => {
        await world.redis.server.send("REPLICAOF", "127.0.0.1", 1);
        await Bun.sleep(random.int(200, 1500));
        await world.redis.server.send("REPLICAOF", "NO", "ONE");
      });
    },
  },
];

/** Jobs end and are settled all the same: after a while none waits. */
async function settlesWhileFull(world: World): Promise<void> {
  const waiting = async () => Number(await world.redis.server.send("LLEN", "solid_jobs:channel:default"));
  const endsAt = performance.now() + 20_000;
  while ((await waiting()) > 0) {
    if (performance.now() > endsAt) {
      world.problems.push(`at maxmemory ${await waiting()} jobs still wait after 20 s`);
      return;
    }
    await Bun.sleep(20);
  }
}
