import { envelopeText, idTextOf } from "../../../src/envelope/parts.ts";
import { ShapeMemory } from "../../../src/publisher/shape-memory.ts";
import type {
  CycleReply,
  CycleRequest,
  Executor,
  NodeRecord,
  Publication,
  Reservation,
  Settlement,
  SettlementOutcome,
  Store,
} from "../../../src/store/store.ts";

export interface DuePayload {
  readonly payload: string;
  /** Epoch milliseconds. */
  readonly atMs: number;
}

/**
 * What the suite must see and do behind a store's back. Each engine has its own; everything else goes
 * through the contract.
 */
export interface StoreHarness {
  /** Opened, on data of its own. */
  readonly store: Store;
  /** A further opened store on the same data, as another process has it. */
  another(): Promise<Store>;
  /** Puts bytes into a channel as any other program does, behind what is there. */
  push(channel: string, payload: string | Uint8Array): Promise<void>;
  /** What a channel holds, in the order in which it is taken. */
  channel(channel: string): Promise<readonly string[]>;
  knownChannels(): Promise<readonly string[]>;
  pause(channel: string): Promise<void>;
  resume(channel: string): Promise<void>;
  planned(): Promise<readonly DuePayload[]>;
  retries(): Promise<readonly DuePayload[]>;
  discarded(): Promise<readonly DuePayload[]>;
  /** Puts a payload into `planned` or `retries`, or into the archive, at a time. */
  put(where: "planned" | "retries" | "discarded", payload: string | Uint8Array, atMs: number): Promise<void>;
  counters(): Promise<{ processed: number; failed: number }>;
  crashes(jobId: string): Promise<number>;
  nowMs(): Promise<number>;
  /** The ids of the jobs a node holds claims for. */
  claims(node: string): Promise<readonly string[]>;
  /** Claims of a node as a crashed process leaves them, made at once: executor `w<n>`, slot 0. */
  plantClaims(node: string, jobs: readonly Publication[]): Promise<void>;
  /** Takes the payload of a claim away and leaves the record, or the other way round. */
  losePayload(executor: Executor, slot: number): Promise<void>;
  loseRecord(executor: Executor, slot: number): Promise<void>;
  /** Makes a node's last beat, and the beginning of its unbroken beating, so many seconds old. */
  setBeat(node: string, beat: { secondsAgo?: number; steadySeconds?: number }): Promise<void>;
  /** Takes the beat out of a node's record; its record with everything; or its name out of the list of nodes. */
  spoilNode(node: string, what: "beat" | "record" | "name"): Promise<void>;
  isNodeStored(node: string): Promise<boolean>;
  signal(node: string, signal: string): Promise<void>;
  close(): Promise<void>;
}

export interface Engine {
  readonly name: string;
  /** A harness on fresh data. */
  open(limits?: { discardedLimit?: number; discardedRetention?: number }): Promise<StoreHarness>;
  /** Tests this engine is not put to, by the word that marks them, each with its reason. */
  readonly skips?: Readonly<Record<string, string>>;
}

let count = 0;
const shapes = new ShapeMemory();

/** An envelope of our own, ready to publish. */
export function job(
  fields: { id?: string; channel?: string; args?: string; barrier?: string; due?: Publication["due"] } = {},
): Publication {
  count += 1;
  const { id = `job-${count}`, channel = "default", args = "[]", barrier, due } = fields;
  const parts = {
    shape: shapes.of({ task: "Task", channel, maxFailures: 25, barrier }),
    ...{ idText: idTextOf(id), nowMs: 1_700_000_000_000, argumentsJson: args },
  };
  return { id, channel, parts, payload: envelopeText(parts), ...(due === undefined ? {} : { due }) };
}

export function jobs(amount: number, fields?: Parameters<typeof job>[0]): Publication[] {
  return Array.from({ length: amount }, () => job(fields));
}

export function payloads(publications: readonly Publication[]): string[] {
  return publications.map(({ payload }) => payload);
}

export function nodeRecord(identity: string, fields: Partial<NodeRecord> = {}): NodeRecord {
  return {
    identity,
    hostname: "host",
    pid: 4242,
    startedAt: 1_700_000_000,
    channels: ["default"],
    labels: [],
    concurrency: 1,
    ttl: 15,
    bootId: "boot",
    pidNamespace: "pid:[1]",
    pidStarted: "77",
    ...fields,
  };
}

/** A registered node with one worker that may reserve. */
export async function aWorker(
  store: Store,
  fields: { node?: string; executor?: string; generation?: string } = {},
): Promise<Executor> {
  count += 1;
  const { node = `host~bun:${count}:0123456789ab`, executor = "w0", generation = "g1" } = fields;
  await store.register(nodeRecord(node));
  const worker = { node, executor, generation };
  if (!(await store.grant(worker))) throw new Error(`a worker of ${node} must be granted`);
  return worker;
}

/** A cycle of `default` over as many slots as asked for, beginning with slot 0. */
export function cycle(
  store: Store,
  executor: Executor,
  fields: Partial<Omit<CycleRequest, "slots">> & { slots?: number | readonly number[] } = {},
): Promise<CycleReply> {
  const { slots = 0, ...rest } = fields;
  return store.cycle({
    executor,
    settlements: [],
    channels: [{ channel: "default", quota: 1000 }],
    ...rest,
    slots: typeof slots === "number" ? Array.from({ length: slots }, (_, slot) => slot) : slots,
  });
}

/** The settlement of a reservation; its id is read from the payload. */
export function settle(reservation: Reservation, outcome: SettlementOutcome): Settlement {
  const { id } = JSON.parse(reservation.raw) as { id: string };
  return { slot: reservation.slot, token: reservation.token, jobId: id, ...outcome };
}

export function idOf(payload: string): string {
  return (JSON.parse(payload) as { id: string }).id;
}

export function idsOf(reply: CycleReply): string[] {
  return reply.reserved.map(({ raw }) => idOf(raw));
}
