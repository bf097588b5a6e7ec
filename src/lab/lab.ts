import { AsyncLocalStorage } from "node:async_hooks";
import { shown } from "../config/reading.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import { overridePublisher } from "../publisher/process-publisher.ts";
import { provideCapturedJobs } from "../task/captured.ts";
import type { TaskClass } from "../task/types.ts";
import { LabScope } from "./scope.ts";

/**
 * `capture` keeps published jobs for the test to look at; `execute` runs each as it is published, and
 * keeps those that are planned for later; `disable` publishes to the real store again.
 */
export type LabMode = "capture" | "execute" | "disable";

type Active = LabScope | "disabled";

const contexts = new AsyncLocalStorage<Active>();
/** What holds outside of the contexts. */
let everywhere: Active = "disabled";

/**
 * Begins a test mode with nothing captured: for this thread until the next call, or, with `fn`, for what
 * `fn` does (and awaits) only, so that concurrent tests do not mix. Jobs go through the same checks,
 * limits and interceptors as elsewhere.
 *
 * @returns what `fn` returns
 * @throws ConfigurationError for an unknown mode
 */
function testing(mode: LabMode): void;
function testing<T>(mode: LabMode, fn: () => T): T;
function testing<T>(mode: LabMode, fn?: () => T): T | undefined {
  const active = begin(mode);
  overridePublisher((origin) => current()?.publisherFor(origin as TaskClass));
  provideCapturedJobs(current);
  if (fn !== undefined) return contexts.run(active, fn);
  everywhere = active;
  return undefined;
}

/**
 * Runs captured jobs that are planned, as if it were `until`, the earliest
 * first, those included that they plan themselves up to then.
 *
 * @returns how many ran
 * @throws what the first failing task throws; the remaining ones stay captured
 */
async function executePlanned(until: Date): Promise<number> {
  const scope = current();
  if (scope !== undefined) return scope.executePlanned(until);
  throw new ConfigurationError('executePlanned() needs a test mode: call lab.testing("capture") first', {
    code: "LAB",
  });
}

/** The test modes and what drives them. */
export const lab = { testing, executePlanned } as const;

function begin(mode: LabMode): Active {
  if (mode === "disable") return "disabled";
  if (mode === "capture" || mode === "execute") return new LabScope(mode);
  throw new ConfigurationError(
    `lab.testing: expected "capture", "execute" or "disable", got ${shown(mode)}`,
    { code: "LAB" },
  );
}

function current(): LabScope | undefined {
  const active = contexts.getStore() ?? everywhere;
  return active === "disabled" ? undefined : active;
}
