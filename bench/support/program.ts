import { join } from "node:path";

/**
 * Runs a program of this folder in a fresh process and reads the last line it prints, as JSON.
 *
 * @throws Error when it fails
 */
export async function resultOf<T>(program: string, args: readonly (string | number)[]): Promise<T> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, program), ...args.map(String)], {
    env: { PATH: process.env["PATH"], NODE_ENV: "production" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
  });
  const [text, status] = await Promise.all([child.stdout.text(), child.exited]);
  if (status !== 0) throw new Error(`${program} ended with status ${status}`);
  return JSON.parse(text.slice(text.lastIndexOf("\n", text.length - 2) + 1)) as T;
}
