import BeeQueue from "bee-queue";

/** It keeps nothing of a job that succeeded, publishes no events and holds no jobs in memory. */
export function openQueue(url: string, isWorker: boolean): BeeQueue<{ index: number }> {
  const { hostname, port } = new URL(url);
  return new BeeQueue("bench", {
    redis: { host: hostname, port: Number(port) },
    ...{ isWorker, removeOnSuccess: true, sendEvents: false, getEvents: false, storeJobs: false },
    activateDelayedJobs: isWorker,
  });
}
