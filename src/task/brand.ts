import type { TaskClass } from "./types.ts";

/** What tells a class of tasks, whichever copy of the package its `Task` comes from. */
export const taskBrand: unique symbol = Symbol.for("solid-jobs.task") as never;

/** A class that extends `Task`, abstract or not; not `Task` itself. */
export function extendsTask(value: unknown): value is TaskClass {
  if (typeof value !== "function" || Object.hasOwn(value, taskBrand)) return false;
  return (value as { [taskBrand]?: unknown })[taskBrand] === true;
}

/** Extends `Task` and has an `executeTask`: what is left out of that is an abstract base. */
export function isConcreteTask(value: unknown): value is TaskClass {
  return extendsTask(value) && typeof value.prototype?.executeTask === "function";
}
