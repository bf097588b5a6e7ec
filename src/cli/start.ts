import { beginThreadsInMain, isNodeThread } from "../conductor/entry.ts";
import { takeRole } from "../conductor/thread-role.ts";
import { isBundled } from "../task/bundled.ts";
import { giveOwnCopy } from "./own-copy.ts";

/**
 * The command, whether it runs from its sources or was compiled to an executable, whose threads begin here
 * again. Resolves to the exit status, in a thread never.
 */
export async function start(args: readonly string[]): Promise<number> {
  if (isBundled()) {
    beginThreadsInMain();
    if (isNodeThread) {
      await giveOwnCopy();
      return takeRole();
    }
  }
  const { main } = await import("./program.ts"); // threads do without the command line
  return main(args);
}
