import type { Envelope } from "../envelope/envelope.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import type { InstrumenterClass } from "../instrumentation/events.ts";
import type { Logger } from "../instrumentation/logger.ts";
import type { ExecuteInterceptor, PublishInterceptor } from "../interceptor/contexts.ts";
import { shown } from "./reading.ts";

/** What an error handler is told of the job; an envelope that cannot be read is absent. */
export interface ErrorContext {
  readonly envelope?: Envelope;
  readonly channel?: string;
  readonly attempt?: number;
  readonly logger: Logger;
}

/** Gets every error of a job's execution. What it throws is logged and does not touch the job. */
export type ErrorHandler = (error: Error, context: ErrorContext) => void | Promise<void>;

export type LifecycleCallback = () => void | Promise<void>;

type OneOrMany<T> = T | readonly T[] | undefined;

/** Code that runs at fixed points, each one function or a list of them, called in their order. */
export interface Hooks {
  readonly publishInterceptors?: OneOrMany<PublishInterceptor>;
  readonly executeInterceptors?: OneOrMany<ExecuteInterceptor>;
  /** Constructed once in each thread. */
  readonly instrumenters?: OneOrMany<InstrumenterClass>;
  readonly errorHandlers?: OneOrMany<ErrorHandler>;
  /** In each worker, before it says that it is ready. */
  readonly startup?: OneOrMany<LifecycleCallback>;
  /** In each worker, when the node stops reserving. */
  readonly quiet?: OneOrMany<LifecycleCallback>;
  /** In each worker, after its last job. */
  readonly shutdown?: OneOrMany<LifecycleCallback>;
}

/** The hooks as lists, frozen. */
export interface HookLists {
  readonly publishInterceptors: readonly PublishInterceptor[];
  readonly executeInterceptors: readonly ExecuteInterceptor[];
  readonly instrumenters: readonly InstrumenterClass[];
  readonly errorHandlers: readonly ErrorHandler[];
  readonly startup: readonly LifecycleCallback[];
  readonly quiet: readonly LifecycleCallback[];
  readonly shutdown: readonly LifecycleCallback[];
}

export const hookNames = [
  "publishInterceptors",
  "executeInterceptors",
  "instrumenters",
  "errorHandlers",
  "startup",
  "quiet",
  "shutdown",
] as const satisfies readonly (keyof HookLists)[];

/** @throws ConfigurationError when something that should be a function is none */
export function hookLists(hooks: Hooks): HookLists {
  const pairs = hookNames.map((name) => [name, functionsOf(name, hooks[name])]);
  return Object.freeze(Object.fromEntries(pairs)) as HookLists;
}

function functionsOf(name: keyof HookLists, given: unknown): readonly unknown[] {
  if (given === undefined) return Object.freeze([]);
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  const expected = name === "instrumenters" ? "a class" : "a function";
  for (const each of list) {
    if (typeof each === "function") continue;
    throw new ConfigurationError(`${name}: expected ${expected} or a list of them, got ${shown(each)}`);
  }
  return Object.freeze([...list]);
}
