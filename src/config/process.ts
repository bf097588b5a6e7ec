import { ConfigurationError } from "../foundation/errors.ts";
import { didYouMean } from "./did-you-mean.ts";
import type { GivenSettings } from "./given.ts";
import { type HookLists, type Hooks, hookLists, hookNames } from "./hooks.ts";
import { shown } from "./reading.ts";
import type { Settings } from "./settings.ts";

// Loaded when they are asked for: a node's threads take the node's settings over and resolve none.
const resolving = () => require("./resolve.ts") as typeof import("./resolve.ts");
const sources = () => require("./sources.ts") as typeof import("./sources.ts");
const table = () => require("./table.ts") as typeof import("./table.ts");

/** Everything `configure` takes. */
export interface Configuration extends GivenSettings, Hooks {}

export interface ProcessConfiguration {
  /** What `configure` was given, later calls over earlier ones. */
  readonly given: GivenSettings;
  readonly hooks: HookLists;
}

interface Slot {
  configuration: ProcessConfiguration;
  /** In a worker: the node's settings. */
  adopted: Settings | undefined;
  /** Resolved at first use, until the next change. */
  resolved: Settings | undefined;
}

const slotKey = Symbol.for("solid-jobs.configuration");

/** Settings that a job's own publications obey: only these may differ from the node's in its workers. */
const publisherSettings = ["maxFailures", "payloadLimit", "publishDeadline", "onComplexArguments"] as const;

/**
 * Sets this process's settings and hooks. Repeated calls are merged key by key, the later one wins; a list
 * replaces a list, so that a module that is loaded again does not add its hooks twice. Opens nothing.
 * @throws ConfigurationError for an unknown key or a bad value; nothing is changed then
 */
export function configure(configuration: Configuration): void {
  refuseNonObject(configuration);
  const slot = processSlot();
  const present = Object.entries(configuration).filter(([, value]) => value !== undefined);
  const isHook = ([name]: [string, unknown]) => (hookNames as readonly string[]).includes(name);
  const hooks: Hooks = Object.fromEntries(present.filter(isHook));
  const given: GivenSettings = Object.fromEntries(present.filter((pair) => !isHook(pair)));
  refuseStrangers(Object.keys(given));
  if (Object.keys(given).length > 0) sources().fromCode(given, process.cwd());
  slot.configuration = Object.freeze({
    given: Object.freeze({ ...withoutOtherUrl(slot.configuration.given, given), ...given }),
    hooks: hookLists({ ...slot.configuration.hooks, ...hooks }),
  });
  slot.resolved = undefined;
}

/** What `configure` was given so far in this thread. */
export function processConfiguration(): ProcessConfiguration {
  return processSlot().configuration;
}

/**
 * The settings of this process, from `configure`, the environment and the file that SOLID_JOBS_CONFIG names;
 * in a node's worker the node's. Resolved at the first call after a change.
 * @throws ConfigurationError as `settingsFrom` does
 */
export function processSettings(): Settings {
  const slot = processSlot();
  const { given } = slot.configuration;
  slot.resolved ??=
    slot.adopted === undefined
      ? resolving().settingsFrom({ given })
      : withPublisherSettings(slot.adopted, given);
  return slot.resolved;
}

/**
 * Makes a node's settings those of this worker thread. The store and all that concerns running jobs is the
 * node's, whatever its modules `configure`; how jobs are published is the modules' where they say so.
 */
export function adoptSettings(settings: Settings): void {
  const slot = processSlot();
  slot.adopted = settings;
  slot.resolved = undefined;
}

/** Forgets everything `configure` and `adoptSettings` were given. */
export function resetConfiguration(): void {
  (globalThis as Record<symbol, unknown>)[slotKey] = undefined;
}

function processSlot(): Slot {
  const holder = globalThis as { [slotKey]?: Slot | undefined };
  holder[slotKey] ??= {
    configuration: Object.freeze({ given: Object.freeze({}), hooks: hookLists({}) }),
    adopted: undefined,
    resolved: undefined,
  };
  return holder[slotKey];
}

function refuseNonObject(configuration: unknown): void {
  if (typeof configuration === "object" && configuration !== null && !Array.isArray(configuration)) return;
  throw new ConfigurationError(`configure: expected an object of settings, got ${shown(configuration)}`);
}

function refuseStrangers(names: readonly string[]): void {
  if (names.length === 0) return;
  const { settingNames, settingsTable } = table();
  const valid = [...settingNames, settingsTable.url.alias!.name, ...hookNames];
  const stranger = names.find((name) => !valid.includes(name));
  if (stranger === undefined) return;
  throw new ConfigurationError(`configure: unknown key "${stranger}"${didYouMean(stranger, valid)}`);
}

/** `url` and `redisUrl` name the same thing: a later call's one replaces an earlier call's other. */
function withoutOtherUrl(earlier: GivenSettings, later: GivenSettings): GivenSettings {
  if (later.url === undefined && later.redisUrl === undefined) return earlier;
  const { url: _url, redisUrl: _redisUrl, ...rest } = earlier;
  return rest;
}

function withPublisherSettings(node: Settings, given: GivenSettings): Settings {
  const own = publisherSettings.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]]));
  return Object.freeze({ ...node, ...Object.fromEntries(own) });
}
