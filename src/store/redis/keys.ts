/** Every key of the store, built here and in the scripts only (docs/keyspace.md). */
export class RedisKeys {
  /** All keys begin with it, such as `solid_jobs:`. */
  readonly prefix: string;
  readonly channels: string;
  readonly pausedChannels: string;
  readonly planned: string;
  readonly retries: string;
  readonly discarded: string;
  readonly nodes: string;
  readonly attempts: string;
  readonly suspects: string;
  readonly processed: string;
  readonly failed: string;

  constructor(prefix: string) {
    this.prefix = prefix;
    this.channels = `${prefix}channels`;
    this.pausedChannels = `${prefix}paused_channels`;
    this.planned = `${prefix}planned`;
    this.retries = `${prefix}retries`;
    this.discarded = `${prefix}discarded`;
    this.nodes = `${prefix}nodes`;
    this.attempts = `${prefix}attempts`;
    this.suspects = `${prefix}suspects`;
    this.processed = `${prefix}metrics:processed`;
    this.failed = `${prefix}metrics:failed`;
  }

  /** The list of a channel's ready envelopes. */
  channel(name: string): string {
    return `${this.prefix}channel:${name}`;
  }

  /** The hash of a node: info, beat, busy, quiet, concurrency. */
  node(identity: string): string {
    return `${this.prefix}node:${identity}`;
  }

  nodeWork(identity: string): string {
    return `${this.node(identity)}:work`;
  }

  nodeSignals(identity: string): string {
    return `${this.node(identity)}:signals`;
  }

  nodeClaims(identity: string): string {
    return `${this.node(identity)}:claims`;
  }

  /** The hash of the generations under which a node's workers may reserve. */
  nodeGenerations(identity: string): string {
    return `${this.node(identity)}:generations`;
  }

  /** The list of the one payload that a slot holds. */
  claimed(identity: string, executor: string, slot: number): string {
    return `${this.node(identity)}:claimed:${executor}.${slot}`;
  }

  /** How often a node or thread died while this job ran. */
  crashes(id: string): string {
    return `${this.prefix}crashes:${id}`;
  }

  /** The barrier of a publication. */
  publication(id: string): string {
    return `${this.prefix}publication:${id}`;
  }

  /** The hash that counts what has arrived from another store, by its digest, while jobs are moved. */
  transfer(journal: string): string {
    return `${this.prefix}transfer:${journal}`;
  }

  transferNotes(journal: string): string {
    return `${this.transfer(journal)}:notes`;
  }
}
