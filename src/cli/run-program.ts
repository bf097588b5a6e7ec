import { basename } from "node:path";
import { beginThreadsInMain, isNodeThread } from "../conductor/entry.ts";
import { allowServing } from "../conductor/serve-guard.ts";
import { takeRole } from "../conductor/thread-role.ts";
import { type Configuration, configure } from "../config/process.ts";
import { shown } from "../config/reading.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import { lineWriter } from "../instrumentation/line-writer.ts";
import { type RegisteredTask, registerTasks } from "../task/registry.ts";
import type { TaskClass } from "../task/types.ts";

/** Settings and hooks are as for `configure`; flags and the environment's variables win over them as usual. */
export interface RunOptions extends Omit<Configuration, "require" | "watch"> {
  /** All classes of tasks the program runs, each with a name of its own in `options.name` once it is bundled. */
  readonly tasks: readonly TaskClass[];
  /** The command line; default: the program's own. */
  readonly args?: readonly string[];
}

/**
 * The whole worker program: takes the CLI's flags (but for `-r` and `--watch`), obeys the same signals, and
 * ends the process with the same exit status. For the main file of a program, compiled to an executable or
 * not: each thread of the node runs that file again up to this call, which there takes the thread's role.
 * What only the main thread may do (serving, publishing, timers) is guarded with `Bun.isMainThread`.
 *
 * Never resolves. What is wrong is told in one line on standard error, with exit status 1.
 *
 * @throws ConfigurationError in a worker that the program itself started
 */
export async function run(options: RunOptions): Promise<never> {
  if (isNodeThread) return join(options);
  if (!Bun.isMainThread) {
    throw new ConfigurationError("run: expected the main thread, got a worker: call it in the main file");
  }
  const name = programName();
  beginThreadsInMain();
  try {
    const tasks = prepare(options).map(({ name, options: { channel } }) => ({ name, channel }));
    const { runExecutable } = await import("./executable.ts"); // threads do without the command line
    process.exit(await runExecutable({ name, args: options.args ?? process.argv.slice(2), tasks }));
  } catch (error) {
    const { complaint } = await import("./complaint.ts");
    lineWriter(2)(complaint(error, name));
    process.exit(1);
  }
}

function join(options: RunOptions): Promise<never> {
  allowServing();
  prepare(options);
  return takeRole();
}

/** In each thread alike, since nothing is shared. */
function prepare({ tasks, args: _args, ...configuration }: RunOptions): readonly RegisteredTask[] {
  if (!Array.isArray(tasks) || tasks.length === 0) {
    throw new ConfigurationError(`run: expected tasks to be a list of task classes, got ${given(tasks)}`);
  }
  for (const name of ["require", "watch"]) {
    if (Object.hasOwn(configuration, name))
      throw new ConfigurationError(`run takes no ${name}: its tasks are part of the program`);
  }
  configure(configuration);
  return registerTasks(tasks.map((taskClass) => ({ taskClass, origin: Bun.main })));
}

function given(tasks: unknown): string {
  return Array.isArray(tasks) ? "an empty one" : shown(tasks);
}

function programName(): string {
  const isExecutable = process.argv[0] === "bun"; // what an executable shows there
  return basename(isExecutable ? process.execPath : Bun.main);
}
