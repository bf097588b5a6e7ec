import { join } from "node:path";
import { killGroup, noteGroup } from "../../method/processes.ts";

const merchants = 50;
const delayMs = 200;
const degradedDelayMs = 10_000;

/** Whether an order goes to a merchant that answers in the usual time. */
export function isHealthy(order: number, degraded: number): boolean {
  return order % merchants >= degraded;
}

/**
 * The APIs of 50 merchants, in a process of their own for as long as `body` runs: they answer after 200 ms, the
 * first `degraded` ones after 10 s.
 *
 * @throws Error when they do not start
 */
export async function withMerchants<T>(
  degraded: number,
  body: (urls: readonly string[]) => Promise<T>,
): Promise<T> {
  const numbers = [merchants, delayMs, degraded, degradedDelayMs].map(String);
  const server = Bun.spawn([process.execPath, join(import.meta.dir, "server.ts"), ...numbers], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit", detached: true },
  });
  noteGroup(server.pid);
  try {
    const { value } = await server.stdout.getReader().read();
    const text = new TextDecoder().decode(value).trim();
    if (!text.startsWith("["))
      throw new Error(`the merchants were expected to print their URLs, and said "${text}"`);
    return await body(JSON.parse(text) as string[]);
  } finally {
    killGroup(server.pid);
    await server.exited;
  }
}
