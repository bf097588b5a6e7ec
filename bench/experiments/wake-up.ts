import { quantile } from "../report/statistics.ts";
import type { Experiment } from "./experiment.ts";
import { executor, feederOf, fillChannel, nodeKey, prefix } from "./feeding.ts";
import { cycleText } from "./patched.ts";
import { channel, onStand, payloadOf, type Stand } from "./stand.ts";
import { awaitChange } from "./wake-up-thread.ts";

const times = 500;
const list = `${prefix}channel:${channel}`;

/** The pieces of the way from a publication to the start of its job on an idle node. */
export const wakeUp: Experiment = {
  name: "wake-up",
  summary: "from a publication to the job on an idle node, piece by piece",
  run: (_, say) =>
    onStand(async (stand) => {
      say(line("a push until the blocking peek is answered", await peeks(stand)));
      say(line("a notify until the other thread goes on", await notifications()));
      say(line("a cycle that reserves one job", await cycles(stand)));
    }),
};

async function peeks(stand: Stand): Promise<number[]> {
  const waiting = await stand.worker();
  const tookUs: number[] = [];
  for (let i = 0; i < times; i++) {
    const answer = waiting.send("BLMOVE", [list, list, "RIGHT", "RIGHT", "5"]);
    await Bun.sleep(1);
    const startMs = performance.now();
    const pushed = stand.client.send("LPUSH", [list, payloadOf(i)]);
    await answer;
    tookUs.push((performance.now() - startMs) * 1000);
    await pushed;
    await stand.client.send("DEL", [list]);
  }
  waiting.close();
  return tookUs;
}

/** Half of there and back: both sides wait with waitAsync, as workers do. */
async function notifications(): Promise<number[]> {
  const cells = new Int32Array(new SharedArrayBuffer(8));
  const thread = new Worker(new URL("./wake-up-thread.ts", import.meta.url).href);
  await new Promise<void>((resolve) => {
    thread.onmessage = () => resolve();
    thread.postMessage(cells.buffer);
  });
  const tookUs: number[] = [];
  for (let i = 1; i <= times; i++) {
    await Bun.sleep(1);
    const startMs = performance.now();
    Atomics.store(cells, 0, i);
    Atomics.notify(cells, 0);
    await awaitChange(cells, 1, i - 1);
    tookUs.push(((performance.now() - startMs) * 1000) / 2);
  }
  thread.terminate();
  return tookUs;
}

async function cycles(stand: Stand): Promise<number[]> {
  await stand.empty();
  await fillChannel(stand.client, times, payloadOf);
  await stand.client.send("HSET", [`${nodeKey}:generations`, executor.executor, executor.generation]);
  const client = await stand.worker();
  const feeder = await feederOf(cycleText)(client);
  const tookUs: number[] = [];
  for (let i = 0; i < times; i++) {
    await Bun.sleep(1);
    const startMs = performance.now();
    const held = await feeder({ nonce: `n${i}`, ended: [], slots: [0] });
    tookUs.push((performance.now() - startMs) * 1000);
    await feeder({ nonce: `s${i}`, ended: held, slots: [] });
  }
  client.close();
  return tookUs;
}

function line(what: string, tookUs: readonly number[]): string {
  const [middle, late] = [quantile(tookUs, 0.5), quantile(tookUs, 0.99)];
  return `  ${what}: ${middle.toFixed(0)} us, p99 ${late.toFixed(0)} us`;
}
