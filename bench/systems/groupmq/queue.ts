import { Queue } from "groupmq";
import Redis from "ioredis";

/** Jobs of one group run one after the other, so each job takes the next of many groups. */
const groups = 1000;

export function openQueue(url: string, options: { batch?: number } = {}): Queue<{ index: number }> {
  return new Queue({
    // Its blocking calls demand that a connection never gives a command up.
    redis: new Redis(url, { maxRetriesPerRequest: null }),
    namespace: "bench",
    ...(options.batch === undefined ? {} : { autoBatch: { size: options.batch, maxWaitMs: 1 } }),
  });
}

export function groupOf(index: number): string {
  return `g${index % groups}`;
}
