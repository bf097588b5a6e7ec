import { encodeEnvelope } from "../../src/envelope/codec.ts";
import { newJobId } from "../../src/foundation/ids.ts";
import { RedisKeys } from "../../src/store/redis/keys.ts";
import { RedisStore } from "../../src/store/redis/store.ts";
import type { Dimension, Point } from "./dimension.ts";
import { seenIn } from "./meter.ts";
import type { Rig } from "./rig.ts";

const prefix = "solid_jobs:";
const keys = new RedisKeys(prefix);
const identity = "gone~bun:1:0123456789ab";
const plantedAtOnce = 500;

/** Claims of a dead node that another one takes back. */
export const recovery: Dimension = {
  name: "recovery",
  unit: "claims",
  title: "claims of a dead node that are put back into their channel, call after call",
  statement: "a claim costs the same however many the dead node held; they are put back in short calls",
  claims: [{ of: "redisUs", atMost: 1.5 }],
  sizes: () => [100, 1000, 10_000],
  measure: (rig, size) => recovered(rig, size),
};

async function recovered(rig: Rig, size: number): Promise<Point> {
  await rig.client.send("FLUSHALL", ["SYNC"]);
  const store = new RedisStore({
    ...{ url: rig.url, prefix, allowEviction: false, discardedLimit: 10_000, discardedRetention: 180 },
  });
  await store.open();
  try {
    await store.register(deadNode);
    await plant(rig, size);
    let calls = 0;
    let seconds = 0;
    const work = await rig.meter.during(async () => {
      const startMs = performance.now();
      calls = await recoverAll(store);
      seconds = (performance.now() - startMs) / 1000;
    });
    const ready = Number(await rig.client.send("LLEN", [keys.channel("default")]));
    if (ready !== size) throw new Error(`expected ${size} jobs to be put back, got ${ready}`);
    const values = {
      ...{ jobsPerSecond: size / seconds, calls },
      ...{ redisUs: work.cpuUs / size, scriptUs: work.scriptUs / size },
    };
    return { size, values, seen: seenIn([work]) };
  } finally {
    await store.close();
  }
}

async function recoverAll(store: RedisStore): Promise<number> {
  for (let calls = 1; ; calls++) {
    const { state } = await store.recover({ identity, judge: identity, isProven: true });
    if (state === "done") return calls;
    if (state !== "more") throw new Error(`expected a dead node to be recovered, it is "${state}"`);
  }
}

/** As a node with one worker and many slots leaves them behind. */
async function plant(rig: Rig, size: number): Promise<void> {
  for (let from = 0; from < size; from += plantedAtOnce) {
    const slots = Array.from({ length: Math.min(plantedAtOnce, size - from) }, (_, i) => from + i);
    await Promise.all(slots.map((slot) => plantClaim(rig, slot)));
  }
}

async function plantClaim({ client }: Rig, slot: number): Promise<void> {
  const id = newJobId();
  const payload = encodeEnvelope({
    ...{ id, channel: "default", task: "Grow", argumentsJson: `[${slot}]` },
    ...{ maxFailures: 25, nowMs: Date.now() },
  });
  const record = JSON.stringify({
    ...{ task_id: id, claim_token: `t.${slot}`, node_id: identity, executor_id: "w0-1" },
    ...{ channel: "default", claimed_at: Date.now() / 1000, attempt: 1 },
  });
  await Promise.all([
    client.send("HSET", [keys.nodeClaims(identity), `w0-1.${slot}`, record]),
    client.send("LPUSH", [keys.claimed(identity, "w0-1", slot), payload]),
  ]);
}

const deadNode = {
  ...{ identity, hostname: "gone", pid: 1, startedAt: 1_700_000_000, channels: ["default"], labels: [] },
  ...{ concurrency: 1, ttl: 15, bootId: "", pidNamespace: "", pidStarted: "" },
};
