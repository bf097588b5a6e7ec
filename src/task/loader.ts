import { ConfigurationError, toError } from "../foundation/errors.ts";
import { extendsTask, isConcreteTask } from "./brand.ts";
import { type RegisteredTask, registerTasks, type TaskRegistration } from "./registry.ts";

/**
 * Imports modules one after the other and registers the tasks they export, named and default exports
 * alike. Abstract bases are left out. Nothing is registered unless every module can be used.
 *
 * @param files absolute paths
 * @throws ConfigurationError naming the file: it does not load, or it exports no task
 */
export async function loadTasks(files: readonly string[]): Promise<readonly RegisteredTask[]> {
  const registrations: TaskRegistration[] = [];
  for (const file of files) registrations.push(...(await tasksOf(file)));
  return registerTasks(registrations);
}

async function tasksOf(file: string): Promise<TaskRegistration[]> {
  const exported = Object.values(await importModule(file));
  const classes = new Set(exported.filter(isConcreteTask));
  if (classes.size > 0) return [...classes].map((taskClass) => ({ taskClass, origin: file }));
  const found = exported.some(extendsTask) ? "only abstract ones, without executeTask" : "no such class";
  throw new ConfigurationError(
    `${file} exports no task: expected an exported class that extends Task and has executeTask, got ${found}. ` +
      "Export one, or leave the file out of --require",
    { code: "MODULE" },
  );
}

async function importModule(file: string): Promise<Record<string, unknown>> {
  try {
    return await import(Bun.pathToFileURL(file).href);
  } catch (error) {
    throw new ConfigurationError(`${file} does not load: ${reasonOf(error)}`, {
      cause: error,
      code: "MODULE",
    });
  }
}

/** A file with several mistakes fails with all of them at once. */
function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.errors.length > 0)
    return error.errors.map(reasonOf).join("; ");
  const { name, message } = toError(error);
  const reason = name === "Error" ? message : `${name}: ${message}`;
  const place = placeOf(error);
  return place === undefined ? reason : `${reason} (at ${place})`;
}

/** Where a mistake stands by the bundler's own words, else where the error was made; a module may be far from `file`. */
function placeOf(error: unknown): string | undefined {
  const { position, stack } = Object(error) as {
    position?: { file?: string; line?: number; column?: number } | null;
    stack?: unknown;
  };
  if (position?.file) return `${position.file}:${position.line}:${position.column}`;
  return typeof stack === "string" ? /^\s+at (?:[^/]*\()?(\/.+?:\d+:\d+)\)?$/m.exec(stack)?.[1] : undefined;
}
