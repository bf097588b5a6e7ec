import type { Fault } from "../fault.ts";
import type { World } from "../world/world.ts";

const failoverMs = 30_000;

async function failOver(world: World, ...more: string[]): Promise<void> {
  const { server, replica } = world.redis;
  if (replica === undefined) throw new Error("this run has no replica");
  await server.send("FAILOVER", "TO", "127.0.0.1", replica.server.port, ...more);
  await world.until(
    "the replica to become the primary",
    async () => String(await replica.server.send("INFO", "replication")).includes("role:master"),
    failoverMs,
  );
  world.redis.follow(replica.server);
}

/** A replica takes over; nodes reach it at the address they know, as behind a proxy that follows the primary. */
export const failoverFaults: readonly Fault[] = [
  {
    name: "failover",
    does: "hands over to a replica that has everything",
    engines: ["redis"],
    alone: "server",
    takesMs: 2500,
    weight: 5,
    once: "failover",
    needs: { hasReplica: true },
    async strike(world) {
      await world.victim();
      await world.struck("failover", "all", () => failOver(world));
    },
  },
  {
    name: "failover-forced",
    does: "hands over to a replica that lags: what it had not received is rolled back",
    engines: ["redis"],
    alone: "server",
    takesMs: 3500,
    weight: 5,
    once: "failover",
    needs: { hasReplica: true },
    async strike(world, random) {
      await world.victim();
      const rollsBackSince = Date.now();
      world.redis.replica?.hold();
      await Bun.sleep(random.int(100, 1200));
      await world.struck("failover-forced", "all", () => failOver(world, "FORCE", "TIMEOUT", "100"), {
        rollsBackSince,
      });
    },
  },
];
