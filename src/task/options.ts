import { channelNameProblem } from "../config/channel.ts";
import { didYouMean } from "../config/did-you-mean.ts";
import { shown } from "../config/reading.ts";
import { ConfigurationError } from "../foundation/errors.ts";
import { taskBrand } from "./brand.ts";
import { areClassesRenamed } from "./bundled.ts";
import type { PublishOptions, TaskClass, TaskOptions } from "./types.ts";

/** A class's options, checked, and merged along its chain. */
export interface ResolvedOptions extends Readonly<Omit<TaskOptions, "name" | "channel">> {
  readonly name: string;
  readonly channel: string;
}

/** Says what is wrong with a value, to be put behind the option's name; undefined when nothing is. */
type Check = (value: unknown) => string | undefined;

const checks: Readonly<Record<keyof TaskOptions, Check>> = {
  name: nameProblem,
  channel: channelNameProblem,
  maxFailures: (value) =>
    Number.isSafeInteger(value) && (value as number) >= 0
      ? undefined
      : `expected a whole number from 0, got ${shown(value)}`,
  retryWithin: secondsProblem,
  retryChannel: channelNameProblem,
  timeout: secondsProblem,
};

const publishChecks: Readonly<Record<keyof PublishOptions, Check>> = {
  id: idProblem,
  channel: checks.channel,
  maxFailures: checks.maxFailures,
  retryWithin: checks.retryWithin,
  retryChannel: checks.retryChannel,
};

/** Bytes a job's id may take. */
const maxIdBytes = 255;
/** Timers take no more. */
const maxSeconds = 2_147_483;

function nameProblem(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return `expected a text, got ${shown(value)}`;
  if (value === "default") return `"default" cannot name a task (it is what an unnamed export is called)`;
  if (/\p{Cc}/u.test(value)) return `a task's name must not hold control characters, got ${shown(value)}`;
  return undefined;
}

function idProblem(value: unknown): string | undefined {
  if (typeof value !== "string" || value === "") return `expected a text, got ${shown(value)}`;
  if (!value.isWellFormed()) return `expected valid unicode, got ${shown(value)}`;
  const bytes = Buffer.byteLength(value);
  return bytes > maxIdBytes ? `may take ${maxIdBytes} bytes, got ${bytes}` : undefined;
}

function secondsProblem(value: unknown): string | undefined {
  const isFine = typeof value === "number" && value > 0 && value <= maxSeconds;
  return isFine ? undefined : `expected seconds above 0 and up to ${maxSeconds}, got ${shown(value)}`;
}

const resolved = new WeakMap<TaskClass, { own: TaskOptions | undefined; options: ResolvedOptions }>();

/**
 * The options of a class: its own before its bases', without what it leaves out. Remembered until its
 * `options` is another object.
 *
 * @throws ConfigurationError for an unknown or ill-typed option, or a name that cannot be used
 */
export function optionsOf(taskClass: TaskClass): ResolvedOptions {
  const known = resolved.get(taskClass);
  if (known !== undefined && known.own === taskClass.options) return known.options;
  const options = resolveOptions(taskClass);
  resolved.set(taskClass, { own: taskClass.options, options });
  return options;
}

/** Without memory, and for a program that `bundled` says is bundled. */
export function resolveOptions(
  taskClass: TaskClass,
  bundled: boolean = areClassesRenamed(),
): ResolvedOptions {
  const merged: TaskOptions = {};
  for (const [owner, options] of optionsAlongChain(taskClass)) {
    checkKeys(`${owner.name || "an unnamed class"}.options`, options, checks);
    Object.assign(merged, withoutUndefined(options as TaskOptions));
  }
  checkStatics(taskClass);
  const { name: _inherited, ...shared } = merged;
  return Object.freeze({ channel: "default", ...shared, name: nameOf(taskClass, bundled) });
}

/** The bases' first. */
function optionsAlongChain(taskClass: TaskClass): [TaskClass, unknown][] {
  const found: [TaskClass, unknown][] = [];
  for (let at = taskClass; typeof at === "function"; at = Object.getPrototypeOf(at)) {
    if (Object.hasOwn(at, taskBrand)) break;
    if (Object.hasOwn(at, "options") && at.options !== undefined) found.unshift([at, at.options]);
  }
  return found;
}

function nameOf(taskClass: TaskClass, bundled: boolean): string {
  const own = Object.hasOwn(taskClass, "options") ? taskClass.options?.name : undefined;
  if (own !== undefined) return own;
  if (bundled) {
    throw new ConfigurationError(
      `the task class ${taskClass.name || "without a name"} needs options.name: this program is bundled, ` +
        'and bundlers rename classes. Add static options = { name: "..." } with a name that stays',
    );
  }
  const problem = nameProblem(taskClass.name);
  if (problem === undefined) return taskClass.name;
  throw new ConfigurationError(
    `a task class without a usable name (${problem}): name the class, or add static options = { name: "..." }`,
  );
}

function checkStatics(taskClass: TaskClass): void {
  for (const name of ["retryDelay", "afterFinalFailure"] as const) {
    const value: unknown = taskClass[name];
    if (value === undefined || typeof value === "function") continue;
    throw new ConfigurationError(`${taskClass.name}.${name}: expected a static method, got ${shown(value)}`);
  }
}

/** @throws ConfigurationError naming the nearest valid option */
export function checkPublishOptions(options: unknown): PublishOptions {
  checkKeys("withOptions", options, publishChecks);
  return withoutUndefined(options as PublishOptions);
}

function checkKeys(place: string, options: unknown, known: Readonly<Record<string, Check>>): void {
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    throw new ConfigurationError(`${place}: expected an object, got ${shown(options)}`);
  }
  for (const [key, value] of Object.entries(options)) {
    const check = Object.hasOwn(known, key) ? known[key] : undefined;
    if (check === undefined) {
      throw new ConfigurationError(`${place}: unknown option "${key}"${didYouMean(key, Object.keys(known))}`);
    }
    const problem = value === undefined ? undefined : check(value);
    if (problem !== undefined) throw new ConfigurationError(`${place}.${key}: ${problem}`);
  }
}

function withoutUndefined<T extends object>(options: T): T {
  return Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined)) as T;
}
