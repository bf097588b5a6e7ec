import type { RedisClient } from "bun";
import { cycleArguments } from "../../src/store/redis/cycle-wire.ts";
import type { CycleRequest, Settlement } from "../../src/store/store.ts";
import type { Reading } from "./experiment.ts";
import { channel, payloadOf, type Stand } from "./stand.ts";

export const prefix = "solid_jobs:";
export const node = "bench~bun:1:0123456789ab";
export const nodeKey = `${prefix}node:${node}`;
export const executor = { node, executor: "w0-1", generation: "g1" };
const archive = { discardedLimit: 10_000, discardedRetention: 180 };

/** A claim that was reserved and is to be acknowledged. */
export interface Held {
  readonly slot: number;
  readonly token: string;
  readonly payload: string;
}

/** One call of a worker: what ended, and the slots to reserve for. */
export interface Turn {
  readonly nonce: string;
  readonly ended: readonly Held[];
  readonly slots: readonly number[];
  /** The worker's name in the store; default `w0-1`. */
  readonly executor?: string;
}

/** Settles and reserves in some way. Resolves to what was reserved, in the order of the slots. */
export type Feeder = (turn: Turn) => Promise<readonly Held[]>;

export interface Feeding {
  readonly stand: Stand;
  readonly jobs: number;
  /** Slots that are settled and reserved for at a time. */
  readonly batch: number;
  /** Made anew for each measure, on a connection of its own that is closed afterwards. */
  feeder(client: RedisClient): Promise<Feeder>;
  /** Default: that of a no-op job. */
  payload?(index: number): string | Uint8Array;
  readonly enableAutoPipelining?: boolean;
}

/** Lets jobs go through a feeder, without running them, and tells what each took. */
export async function feeding(given: Feeding): Promise<Reading> {
  const { stand, jobs, batch, payload = payloadOf } = given;
  const turns = Math.ceil(jobs / batch);
  await stand.empty();
  await fillChannel(stand.client, (turns + 1) * batch, payload);
  await stand.client.send("HSET", [`${nodeKey}:generations`, executor.executor, executor.generation]);
  const client = await stand.worker({ enableAutoPipelining: given.enableAutoPipelining ?? false });
  try {
    const feeder = await given.feeder(client);
    const slots = Array.from({ length: batch }, (_, slot) => slot);
    let ended = await feeder({ nonce: "n0", ended: [], slots });
    const before = await stand.work();
    const [cpuBefore, startMs] = [process.threadCpuUsage(), performance.now()];
    for (let turn = 1; turn <= turns; turn++) {
      ended = await feeder({ nonce: `n${turn.toString(36)}`, ended, slots });
      if (ended.length !== batch) throw new Error(`a call reserved ${ended.length} of ${batch} jobs`);
    }
    const cpu = process.threadCpuUsage(cpuBefore);
    const us = (performance.now() - startMs) * 1000;
    const after = await stand.work();
    const perJob = (value: number) => value / (turns * batch);
    return {
      redisUs: perJob(after.scriptUs - before.scriptUs),
      redisCpuUs: perJob(after.cpuUs - before.cpuUs),
      workerUs: perJob(cpu.user + cpu.system),
      bytesOut: perJob(after.bytesRead - before.bytesRead),
      bytesIn: perJob(after.bytesWritten - before.bytesWritten),
      us: perJob(us),
    };
  } finally {
    client.close();
  }
}

export async function fillChannel(
  client: RedisClient,
  jobs: number,
  payload: (index: number) => string | Uint8Array,
): Promise<void> {
  for (let from = 0; from < jobs; from += 500) {
    const some = Array.from({ length: Math.min(500, jobs - from) }, (_, i) => payload(from + i));
    await client.send("LPUSH", [`${prefix}channel:${channel}`, ...(some as string[])]);
  }
}

// ---------------------------------------------------------------------------------- the present way

/** Loads a script. @returns its digest */
export async function loaded(client: RedisClient, text: string): Promise<string> {
  return String(await client.send("SCRIPT", ["LOAD", text]));
}

/** The arguments of `lua/cycle.lua`, nonce first. */
export function presentArguments(turn: Turn): string[] {
  return [turn.nonce, ...(cycleArguments(requestOf(turn), prefix, archive) as string[])];
}

export function requestOf({ nonce, ended, slots, executor: name = executor.executor }: Turn): CycleRequest {
  return {
    executor: { ...executor, executor: name },
    settlements: ended.map(({ slot, token }): Settlement => ({ slot, token, jobId: "", outcome: "ack" })),
    slots,
    channels: slots.length === 0 ? [] : [{ channel, quota: slots.length }],
    isAtMostOnce: false,
    tokenBase: nonce,
  };
}

/** Reads the reply of `lua/cycle.lua`. @throws Error when anything was refused */
export function presentReply(reply: unknown, { nonce, slots }: Turn): Held[] {
  const [echo, , , isCurrent, , payloads, more] = reply as [
    string,
    string,
    string,
    number,
    number[],
    string[],
    unknown,
  ];
  if (echo !== nonce || isCurrent !== 1 || more !== 0) {
    throw new Error(`expected a call that went through, got ${JSON.stringify(reply).slice(0, 400)}`);
  }
  return payloads.map((payload, i) => ({ slot: slots[i] as number, token: `${nonce}.${slots[i]}`, payload }));
}

/** By the present script, or one that takes and gives the same. */
export function feederOf(text: string): (client: RedisClient) => Promise<Feeder> {
  return async (client) => {
    const sha = await loaded(client, text);
    return async (turn) =>
      presentReply(await client.send("EVALSHA", [sha, "1", nodeKey, ...presentArguments(turn)]), turn);
  };
}
