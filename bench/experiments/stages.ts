import { heapStats } from "bun:jsc";
import { decodeEnvelope } from "../../src/envelope/codec.ts";
import { cycleArguments, cycleReply } from "../../src/store/redis/cycle-wire.ts";
import { quantile } from "../report/statistics.ts";
import { executor, fillChannel, type Held, loaded, nodeKey, prefix, requestOf } from "./feeding.ts";
import { cycleText } from "./patched.ts";
import { payloadOf, type Stand } from "./stand.ts";
import { reservationOf, WorkerStand } from "./worker-stand.ts";

/** Microseconds of a worker's thread for each job. */
export interface Stages {
  /** The arguments of the call. */
  readonly arguments: number;
  /** Writing the command, the system call included. */
  readonly send: number;
  /** Waiting, reading and decoding the reply: what Bun's client and the system take beside it. */
  readonly receive: number;
  /** Reservations of the reply. */
  readonly reply: number;
  readonly decode: number;
  readonly execute: number;
  /** The loop, its claims and the board, without executing. */
  readonly loop: number;
}

const archive = { discardedLimit: 10_000, discardedRetention: 180 };

/** What each stage takes where a call carries so many jobs. */
export async function stagesOf(stand: Stand, batch: number, lookAhead: number): Promise<Stages> {
  const worker = new WorkerStand(lookAhead);
  await worker.loop(50_000);
  const executing = await cpuUsOf(100_000, async (times) => {
    for (let i = 0; i < times; i++) await worker.executor.run(reservationOf(0, "t"));
  });
  const decoding = await cpuUsOf(100_000, async (times) => {
    for (let i = 0; i < times; i++) decodeEnvelope(reservationOf(0, "t").raw);
  });
  const looping = await cpuUsOf(100_000, (times) => worker.loop(times));
  return {
    ...(await clientStages(stand, batch)),
    ...{ decode: decoding, execute: executing - decoding, loop: Math.max(0, looping - executing) },
  };
}

async function cpuUsOf(times: number, body: (times: number) => Promise<unknown>): Promise<number> {
  await body(times / 5);
  const measured: number[] = [];
  for (let round = 0; round < 5; round++) {
    const before = threadCpuUs();
    await body(times);
    measured.push((threadCpuUs() - before) / times);
  }
  return quantile(measured, 0.5);
}

async function clientStages(stand: Stand, batch: number) {
  const turns = Math.max(400, Math.ceil(12_000 / batch));
  await stand.empty();
  await fillChannel(stand.client, (turns + 1) * batch, payloadOf);
  await stand.client.send("HSET", [`${nodeKey}:generations`, executor.executor, executor.generation]);
  const client = await stand.worker();
  const sha = await loaded(client, cycleText);
  const slots = Array.from({ length: batch }, (_, slot) => slot);
  const spent = new CpuSpent();
  let ended: Held[] = [];
  for (let turn = 0; turn <= turns; turn++) {
    const request = requestOf({ nonce: `n${turn}`, ended, slots });
    spent.begin();
    const args = cycleArguments(request, prefix, archive);
    spent.on("arguments");
    const answer = client.send("EVALSHA", [sha, "1", nodeKey, `n${turn}`, ...args] as string[]);
    spent.on("send");
    const reply = (await answer) as unknown[];
    spent.on("receive");
    const { reserved } = cycleReply(reply.slice(1), request);
    spent.on("reply");
    ended = reserved.map(({ slot, token, raw }) => ({ slot, token, payload: raw }));
  }
  client.close();
  const each = (stage: ClientStage) => spent.usOf(stage) / (turns + 1) / batch;
  return {
    ...{ arguments: each("arguments"), send: each("send"), receive: each("receive") },
    reply: each("reply"),
  };
}

type ClientStage = "arguments" | "send" | "receive" | "reply";

/** CPU of this thread by stages, without what asking for it takes. */
class CpuSpent {
  private readonly us = new Map<ClientStage, number>();
  private readonly askingUs: number;
  private calls = 0;
  private lastUs = 0;

  constructor() {
    const asked = 20_000;
    const before = threadCpuUs();
    for (let i = 0; i < asked; i++) threadCpuUs();
    this.askingUs = (threadCpuUs() - before) / asked;
  }

  begin(): void {
    this.calls += 1;
    this.lastUs = threadCpuUs();
  }

  on(stage: ClientStage): void {
    const nowUs = threadCpuUs();
    this.us.set(stage, (this.us.get(stage) ?? 0) + nowUs - this.lastUs);
    this.lastUs = nowUs;
  }

  usOf(stage: ClientStage): number {
    return Math.max(0, (this.us.get(stage) ?? 0) - this.calls * this.askingUs);
  }
}

function threadCpuUs(): number {
  const { user, system } = process.threadCpuUsage();
  return user + system;
}

/** What running one job makes: objects of the heap, its bytes, and texts parsed or written as JSON. */
export interface Made {
  readonly objects: number;
  readonly bytes: number;
  readonly kinds: readonly (readonly [string, number])[];
  readonly parses: number;
  readonly writes: number;
}

export async function madeByJobs(jobs = 3000): Promise<Made> {
  const worker = new WorkerStand(64);
  await worker.loop(50_000);
  const parse = counting(JSON, "parse");
  const write = counting(JSON, "stringify");
  Bun.gc(true);
  const before = heapStats();
  await worker.loop(jobs);
  const after = heapStats();
  const counts = Object.entries(after.objectTypeCounts).map(
    ([kind, count]) => [kind, (count - (before.objectTypeCounts[kind] ?? 0)) / jobs] as const,
  );
  return {
    objects: (after.objectCount - before.objectCount) / jobs,
    bytes: (after.heapSize - before.heapSize) / jobs,
    kinds: counts.filter(([, count]) => count > 0.1).sort((a, b) => b[1] - a[1]),
    ...{ parses: parse() / jobs, writes: write() / jobs },
  };
}

/** Counts the calls of a function until it is asked for them. */
function counting(owner: typeof JSON, name: "parse" | "stringify"): () => number {
  const original = owner[name] as (...args: unknown[]) => unknown;
  let calls = 0;
  Reflect.set(owner, name, (...args: unknown[]) => {
    calls += 1;
    return original(...args);
  });
  return () => {
    Reflect.set(owner, name, original);
    return calls;
  };
}
