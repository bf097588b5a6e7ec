import { ConfigurationError } from "../foundation/errors.ts";
import { isBundled } from "../task/bundled.ts";

/** What a node's threads are told apart by from an application's own workers. */
const threadMark = "--solid-jobs-thread";

/** Whether this thread was started by a node, which waits for it to take its role. */
export const isNodeThread: boolean = !Bun.isMainThread && isMarked();

/** The mark is taken off: programs that a job starts may be given `execArgv`. */
function isMarked(): boolean {
  const place = process.execArgv.indexOf(threadMark);
  if (place !== -1) process.execArgv.splice(place, 1);
  return place !== -1;
}

/** A small heap that is collected sooner: with 8 workers 10 to 30 MiB less after a load. */
const smol = true;

let beginsInMain = false;

/**
 * From now on threads begin in the program's main file, which must come to `takeRole` again there: a worker
 * file of the library is no part of a bundle, and tasks given as classes are known nowhere else.
 */
export function beginThreadsInMain(): void {
  beginsInMain = true;
}

/**
 * A thread that begins in its file, or in the main file with the arguments that the main thread got.
 *
 * @throws ConfigurationError in a bundled program whose main file does not call `run`
 */
export function beginThread(): Worker {
  if (beginsInMain) {
    return new Worker(Bun.main, {
      smol,
      execArgv: [...process.execArgv, threadMark],
      argv: process.argv.slice(2),
    } as WorkerOptions);
  }
  if (!isBundled()) return new Worker(new URL("./thread.ts", import.meta.url).href, { smol });
  throw new ConfigurationError(
    "a bundled program has no files its node's threads could begin in: expected await run({ tasks: [...] }) in its main file, got a Conductor",
  );
}

const rule =
  "each thread of a node runs the main file again, up to run(...): call it at the top level, not behind " +
  "import.meta.main, and guard with Bun.isMainThread what only the main thread may do, such as serving";

/** Why a thread that began in the main file never listened; undefined where threads have a file of their own. */
export function whyItNeverListened(
  how: { readonly code: number; readonly error: string | undefined } | { readonly lateMs: number },
): string | undefined {
  if (!beginsInMain) return undefined;
  return `${whatHappened(how)}; ${rule}`;
}

function whatHappened(how: Parameters<typeof whyItNeverListened>[0]): string {
  if ("lateMs" in how) return `a thread did not reach run(...) within ${how.lateMs / 1000} s`;
  if (how.error !== undefined) return `a thread failed before it reached run(...): ${gist(how.error)}`;
  return `a thread ended, with code ${how.code}, before it reached run(...)`;
}

/** Bun puts a frame of code before an error's text and a stack behind it: the first line of the stack stays. */
function gist(error: string): string {
  const lines = error.split("\n").filter((line) => !/^\s*(?:\d+ \||\^\s*$)/.test(line));
  const [text = "", place] = lines
    .join("\n")
    .trim()
    .split(/\n\s*at /);
  const what = text.trim().replace(/^error: /, "");
  return place === undefined ? what : `${what} (at ${place.trim()})`;
}
