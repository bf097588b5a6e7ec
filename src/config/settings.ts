import type { LogLevel } from "../instrumentation/logger.ts";

export interface ChannelWeight {
  readonly name: string;
  /** At least 1: how many turns it gets for each turn of a channel of weight 1. */
  readonly weight: number;
}

export type ChannelOrder = "weighted" | "priority" | "shuffle";
export type Delivery = "at-least-once" | "at-most-once";

/** Every setting, resolved and frozen. `table.ts` says where each comes from, its default and its rule. */
export interface Settings {
  /** The store's URL: of a Redis, or `sqlite:` and the absolute path of the embedded engine's file. */
  readonly url: string;
  /** All keys of the store begin with it. */
  readonly prefix: string;
  /** Absolute paths of the modules with tasks. */
  readonly require: readonly string[];
  /** Workers of a node. */
  readonly concurrency: number;
  /** Jobs at a time in each worker. */
  readonly slots: number;
  /** Claims a worker may reserve beside those that it runs, while its jobs are short; 0: none. */
  readonly lookAhead: number;
  /** What the node serves; empty means `default` and every channel its tasks name. */
  readonly channels: readonly ChannelWeight[];
  readonly channelOrder: ChannelOrder;
  /** Seconds running jobs get at shutdown. */
  readonly timeout: number;
  readonly logLevel: LogLevel;
  readonly watch: boolean;
  readonly maxFailures: number;
  /** Seconds. */
  readonly retryBase: number;
  /** Seconds. */
  readonly retryCap: number;
  /** Entries kept in the archive. */
  readonly discardedLimit: number;
  /** Days an entry is kept in the archive. */
  readonly discardedRetention: number;
  readonly delivery: Delivery;
  /** Bytes of an envelope. */
  readonly payloadLimit: number;
  /** Seconds until a publication without an answer is given up. */
  readonly publishDeadline: number;
  readonly onComplexArguments: "raise" | "warn";
  readonly allowEviction: boolean;
  /** What the embedded engine survives: `normal` the death of any process, `full` also the loss of power. */
  readonly synchronous: "normal" | "full";
  /** Seconds without a beat after which another node may recover this one. */
  readonly ttl: number;
  /** Times a node may die while a job runs before the job counts as poison. */
  readonly maxCrashes: number;
  readonly labels: readonly string[];
  /** PEM text or path of the certificate authority for `rediss:` URLs. */
  readonly tlsCa: string | undefined;
}
