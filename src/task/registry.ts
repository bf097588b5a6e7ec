import { ConfigurationError } from "../foundation/errors.ts";
import { isConcreteTask } from "./brand.ts";
import { optionsOf, type ResolvedOptions } from "./options.ts";
import type { TaskClass } from "./types.ts";

export interface RegisteredTask {
  readonly name: string;
  readonly taskClass: TaskClass;
  readonly options: ResolvedOptions;
  /** The file it was loaded from, or another text that stays the same when it is loaded again. */
  readonly origin: string;
}

/** Names resolve only here: a name from the store is never imported or evaluated. */
const slotKey = Symbol.for("solid-jobs.registry");

function registry(): Map<string, RegisteredTask> {
  const place = globalThis as { [slotKey]?: Map<string, RegisteredTask> };
  place[slotKey] ??= new Map();
  return place[slotKey];
}

export interface TaskRegistration {
  readonly taskClass: TaskClass;
  readonly origin: string;
}

/**
 * Makes tasks known by name: all of them, or none when one cannot be used. A class met twice is one; a
 * class whose origin is loaded again takes the place of its former self.
 *
 * @throws ConfigurationError for bad options, and for two different classes with one name
 */
export function registerTasks(registrations: readonly TaskRegistration[]): readonly RegisteredTask[] {
  const known = registry();
  const reloaded = new Set(registrations.map(({ origin }) => origin));
  const batch = new Map<string, RegisteredTask>();
  for (const { taskClass, origin } of registrations) {
    if (!isConcreteTask(taskClass)) throw notATask(taskClass, origin);
    const options = optionsOf(taskClass);
    const task: RegisteredTask = { name: options.name, taskClass, options, origin };
    const earlier = known.get(task.name);
    if (earlier !== undefined && !reloaded.has(earlier.origin)) refuseDouble(earlier, task);
    const twin = batch.get(task.name);
    if (twin !== undefined) refuseDouble(twin, task);
    else batch.set(task.name, task);
  }
  for (const [name, task] of known) if (reloaded.has(task.origin)) known.delete(name);
  for (const [name, task] of batch) known.set(name, task);
  return [...batch.values()];
}

function refuseDouble(one: RegisteredTask, other: RegisteredTask): void {
  if (one.taskClass === other.taskClass) return;
  throw new ConfigurationError(
    `two different task classes are named "${one.name}": one in ${one.origin}, one in ${other.origin}. ` +
      'Rename one of them, or give it a name of its own with static options = { name: "..." }',
  );
}

function notATask(value: unknown, origin: string): ConfigurationError {
  const what = typeof value === "function" ? value.name || "an unnamed function" : String(value);
  return new ConfigurationError(
    `${origin}: expected a class that extends Task and has executeTask, got ${what}`,
  );
}

/** The task of that name, or undefined when no loaded module has it. */
export function taskNamed(name: string): RegisteredTask | undefined {
  return registry().get(name);
}

/** All of them, in the order in which they became known. */
export function registeredTasks(): readonly RegisteredTask[] {
  return [...registry().values()];
}

/** Forgets all of them, for a test or a program that loads its modules anew. */
export function clearRegistry(): void {
  registry().clear();
}
