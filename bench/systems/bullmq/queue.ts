import type { ConnectionOptions } from "bullmq";

export const queueName = "bench";

export function connectionTo(url: string): ConnectionOptions {
  const { hostname, port } = new URL(url);
  // BullMQ demands that its connections never give a command up.
  return { host: hostname, port: Number(port), maxRetriesPerRequest: null };
}
