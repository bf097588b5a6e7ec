import type { Execution } from "./types.ts";

/**
 * Hands an execution to the `Task` that is being built for it, so that it is there before the task's
 * field initialisers run. It hangs on `globalThis`: performer and task may come from two copies of the
 * package.
 */
interface ExecutionSlot {
  current: Execution | undefined;
}

const slotKey = Symbol.for("solid-jobs.execution");

function slotOfThread(): ExecutionSlot {
  const place = globalThis as { [slotKey]?: ExecutionSlot };
  place[slotKey] ??= { current: undefined };
  return place[slotKey];
}

const slot = slotOfThread();

/** Builds what `build` builds with `execution` at hand for the first task built in it. */
export function buildingFor<T>(execution: Execution, build: new () => T): T {
  slot.current = execution;
  try {
    return new build();
  } finally {
    slot.current = undefined;
  }
}

/** Taken by the first to ask: a task built in another's field initialiser is not being executed. */
export function takeExecution(): Execution | undefined {
  const { current } = slot;
  slot.current = undefined;
  return current;
}
