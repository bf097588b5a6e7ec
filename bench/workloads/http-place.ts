import { join } from "node:path";
import { killGroup, noteGroup } from "../method/processes.ts";

/**
 * A local server that answers after `delayMs`, in a process of its own, for as long as `body` runs.
 *
 * @throws Error when it does not start
 */
export async function withHttpServer<T>(delayMs: number, body: (url: string) => Promise<T>): Promise<T> {
  const server = Bun.spawn([process.execPath, join(import.meta.dir, "http-server.ts"), String(delayMs)], {
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit", detached: true },
  });
  noteGroup(server.pid);
  try {
    const { value } = await server.stdout.getReader().read();
    const url = new TextDecoder().decode(value).trim();
    if (!URL.canParse(url))
      throw new Error(`the HTTP server was expected to print its URL, and said "${url}"`);
    return await body(url);
  } finally {
    killGroup(server.pid);
    await server.exited;
  }
}
