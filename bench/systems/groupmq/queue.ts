import { Queue } from "groupmq";
import Redis from "ioredis";

/** Jobs of one group run one after the other. Few groups are its fastest way: it stays with one as long as it can. */
const leastGroups = 50;

export function openQueue(url: string, options: { batch?: number } = {}): Queue<{ index: number }> {
  return new Queue({
    // Its blocking calls demand that a connection never gives a command up.
    redis: new Redis(url, { maxRetriesPerRequest: null }),
    namespace: "bench",
    ...(options.batch === undefined ? {} : { autoBatch: { size: options.batch, maxWaitMs: 1 } }),
  });
}

/** The name of a job's group, where so many jobs are to run at a time. */
export function groupOf(index: number, concurrency: number): string {
  return `g${index % Math.max(leastGroups, concurrency)}`;
}
