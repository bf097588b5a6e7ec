import type { RedisClient } from "bun";
import { encodeEnvelope } from "../../src/envelope/codec.ts";
import { newJobId } from "../../src/foundation/ids.ts";
import { RedisKeys } from "../../src/store/redis/keys.ts";

const keys = new RedisKeys("solid_jobs:");
/** Bytes of a call while filling, and calls under way at once. */
const callBytes = 256 * 1024;
const callsAtOnce = 16;

export interface Batch {
  /** The indexes of its jobs: from this one on. */
  readonly from: number;
  readonly count: number;
  /** Taken in turns; `default` without them. */
  readonly channels?: readonly string[];
  /** Bytes of the text that each job carries beside its index. */
  readonly ballast?: number;
}

/** Where jobs lie: in their channels, or in a set with the time at which they are due (epoch seconds). */
export type Place = "channels" | { readonly set: "planned" | "retries"; readonly atSeconds: number };

/**
 * Stores jobs where no node looks. They appear all at once when the answer is called: lists and sets are
 * renamed, so that the filling is no part of what is measured.
 *
 * @returns puts them in place
 */
export async function staged(
  client: RedisClient,
  batch: Batch,
  place: Place = "channels",
): Promise<() => Promise<void>> {
  const channels = batch.channels ?? ["default"];
  const targets = new Set<string>();
  const filling = new Filling(client);
  for (let i = 0; i < batch.count; i++) {
    const channel = channels[i % channels.length] as string;
    const payload = envelope(batch.from + i, channel, batch.ballast ?? 0);
    const target = place === "channels" ? keys.channel(channel) : keys[place.set];
    targets.add(target);
    await filling.add(target, payload, place === "channels" ? undefined : place.atSeconds);
  }
  await filling.end();
  await client.send("SADD", [keys.channels, ...channels]);
  return async () => {
    await Promise.all([...targets].map((key) => client.send("RENAME", [stagingOf(key), key])));
  };
}

function stagingOf(key: string): string {
  return `growth:${key}`;
}

function envelope(index: number, channel: string, ballast: number): string {
  const args = ballast === 0 ? `[${index}]` : `[${index},"${"x".repeat(ballast)}"]`;
  return encodeEnvelope({
    ...{ id: newJobId(), channel, task: "Grow", argumentsJson: args },
    ...{ maxFailures: 25, nowMs: Date.now() },
  });
}

/** Sends what is added in calls of some size, a few of them at once. */
class Filling {
  private readonly client: RedisClient;
  private readonly gathered = new Map<string, string[]>();
  private bytes = 0;
  private under: Promise<unknown>[] = [];

  constructor(client: RedisClient) {
    this.client = client;
  }

  async add(key: string, payload: string, score: number | undefined): Promise<void> {
    const members = this.gathered.get(key) ?? [];
    this.gathered.set(key, members);
    if (score !== undefined) members.push(String(score));
    members.push(payload);
    this.bytes += payload.length;
    if (this.bytes < callBytes) return;
    this.flush();
    if (this.under.length >= callsAtOnce) await this.settled();
  }

  async end(): Promise<void> {
    this.flush();
    await this.settled();
  }

  private async settled(): Promise<void> {
    await Promise.all(this.under);
    this.under = [];
  }

  private flush(): void {
    for (const [key, members] of this.gathered) {
      const command = key === keys.planned || key === keys.retries ? "ZADD" : "LPUSH";
      this.under.push(this.client.send(command, [stagingOf(key), ...members]));
    }
    this.gathered.clear();
    this.bytes = 0;
  }
}
