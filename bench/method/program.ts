import { cleanEnvironment, killGroup, noteGroup } from "./processes.ts";

/**
 * Runs a program in a fresh process and reads the last line it prints, as JSON.
 *
 * @throws Error when it fails
 */
export async function resultOf<T>(program: string, args: readonly (string | number)[]): Promise<T> {
  const child = Bun.spawn([process.execPath, program, ...args.map(String)], {
    env: cleanEnvironment(),
    ...{ stdin: "ignore", stdout: "pipe", stderr: "inherit", detached: true },
  });
  noteGroup(child.pid);
  const [text, status] = await Promise.all([child.stdout.text(), child.exited]);
  killGroup(child.pid);
  if (status !== 0) throw new Error(`${program} ended with status ${status}`);
  return JSON.parse(text.slice(text.lastIndexOf("\n", text.length - 2) + 1)) as T;
}
