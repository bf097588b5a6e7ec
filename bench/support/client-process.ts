import { join } from "node:path";
import type { System } from "../systems/system.ts";
import type { ClientResult, ClientTask } from "./client-tasks.ts";

const program = join(import.meta.dir, "client-main.ts");

/**
 * Lets a system's client do one task in a fresh process.
 *
 * @throws Error when it fails
 */
export async function inClient<T extends ClientTask>(
  system: System,
  url: string,
  task: T,
): Promise<ClientResult<T["kind"]>> {
  const child = Bun.spawn([process.execPath, program, system.name, url, JSON.stringify(task)], {
    env: { PATH: process.env["PATH"], NODE_ENV: "production" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, status] = await Promise.all([child.stdout.text(), child.exited]);
  if (status !== 0) throw new Error(`the client of ${system.name} failed at "${task.kind}"`);
  return JSON.parse(text.slice(text.lastIndexOf("\n", text.length - 2) + 1));
}
