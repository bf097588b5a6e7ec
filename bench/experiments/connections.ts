import type { RedisClient } from "bun";
import type { Answer, Order, ThreadData } from "./connection-thread.ts";
import type { Experiment, Reading } from "./experiment.ts";
import { fillChannel, loaded, nodeKey } from "./feeding.ts";
import { cycleText } from "./patched.ts";
import { onStand, payloadOf, type Stand } from "./stand.ts";

const threads = 4;

interface Given {
  readonly stand: Stand;
  readonly batch: number;
  readonly turns: number;
}

/** Threads that settle and reserve without running anything, each on its own connection or all on the node's. */
async function measured({ stand, batch, turns }: Given, isShared: boolean): Promise<Reading> {
  await stand.empty();
  await fillChannel(stand.client, threads * (turns + 2) * batch, payloadOf);
  for (let i = 0; i < threads; i++)
    await stand.client.send("HSET", [`${nodeKey}:generations`, `w${i}-1`, "g1"]);
  const client = await stand.worker();
  const sha = await loaded(client, cycleText);
  const workers = Array.from({ length: threads }, (_, i) =>
    thread(
      { client, sha },
      {
        ...{ executor: `w${i}-1`, batch, turns, sha },
        url: isShared ? undefined : stand.server.url,
      },
    ),
  );
  try {
    await Promise.all(workers.map(({ ready }) => ready));
    const [before, cpu, startMs] = [await stand.work(), process.cpuUsage(), performance.now()];
    for (const { worker } of workers) worker.postMessage({ kind: "go" } satisfies Order);
    await Promise.all(workers.map(({ done }) => done));
    const seconds = (performance.now() - startMs) / 1000;
    const used = process.cpuUsage(cpu);
    const after = await stand.work();
    const jobs = threads * turns * batch;
    return {
      jobsPerSecond: jobs / seconds,
      workerUs: (used.user + used.system) / jobs,
      redisCpuUs: (after.cpuUs - before.cpuUs) / jobs,
    };
  } finally {
    for (const { worker } of workers) worker.terminate();
    client.close();
  }
}

function thread({ client, sha }: { client: RedisClient; sha: string }, data: ThreadData) {
  const worker = new Worker(new URL("./connection-thread.ts", import.meta.url).href);
  const [ready, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  worker.onerror = (event) => {
    ready.reject(new Error(event.message));
    done.reject(new Error(event.message));
  };
  worker.onmessage = async ({ data: answer }: MessageEvent<Answer>) => {
    if (answer.kind === "ready") return ready.resolve();
    if (answer.kind === "done") return done.resolve();
    const reply = await client.send("EVALSHA", [sha, "1", nodeKey, ...answer.args]);
    worker.postMessage({ kind: "reply", reply } satisfies Order);
  };
  worker.postMessage({ kind: "begin", ...data } satisfies Order);
  return { worker, ready: ready.promise, done: done.promise };
}

export const connections: Experiment = {
  name: "connections",
  summary: "a connection for each worker, against one for the node to which its 4 workers send messages",
  run: (compare) =>
    onStand(async (stand) => {
      for (const [batch, turns] of [
        [64, 80],
        [1, 1200],
      ] as const) {
        const given = { stand, batch, turns };
        await compare({
          ...{ at: `4 workers, ${batch} at a time`, quantities: ["jobsPerSecond", "workerUs", "redisCpuUs"] },
          ways: [
            { name: "present", measure: () => measured(given, false) },
            { name: "one for the node", measure: () => measured(given, true) },
          ],
        });
      }
    }),
};
