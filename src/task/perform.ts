import type { ExecuteInterceptor } from "../interceptor/contexts.ts";
import { runOnion } from "../interceptor/onion.ts";
import { buildingFor } from "./execution-slot.ts";
import type { Execution, TaskClass } from "./types.ts";

/**
 * Runs one job: a fresh instance, built without arguments, inside the interceptors, the first one
 * outermost. Without interceptors a synchronous task returns synchronously.
 *
 * @returns what the task returns, or a promise of what the outermost interceptor returns
 * @throws whatever the task throws
 */
export function performTask(
  taskClass: TaskClass,
  execution: Execution,
  interceptors: readonly ExecuteInterceptor[],
): unknown {
  if (interceptors.length === 0) return executeFresh(taskClass, execution);
  return runOnion<Execution, unknown>(interceptors, execution, async () =>
    executeFresh(taskClass, execution),
  );
}

function executeFresh(taskClass: TaskClass, execution: Execution): unknown {
  return buildingFor(execution, taskClass).executeTask(...execution.envelope.arguments);
}
