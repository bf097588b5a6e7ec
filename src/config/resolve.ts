import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import { ConfigurationError } from "../foundation/errors.ts";
import type { Surroundings } from "./default-store.ts";
import { type Environment, variable } from "./environment.ts";
import type { GivenSettings } from "./given.ts";
import { expandRequire } from "./require-paths.ts";
import type { Settings } from "./settings.ts";
import {
  configFileVariable,
  type Findings,
  type Flags,
  type Found,
  fromCode,
  fromEnvironment,
  fromFallbacks,
  fromFile,
  fromFlags,
} from "./sources.ts";
import { type SettingName, settingNames, settingsTable } from "./table.ts";

export interface SettingsSources {
  /** What commander collected of the command line. */
  readonly flags?: Flags;
  /** Settings given in code. */
  readonly given?: GivenSettings;
  /** `process.env` by default. */
  readonly env?: Environment;
  /** A TOML or JSON file; by default the one that SOLID_JOBS_CONFIG names, if any. */
  readonly configFile?: string | undefined;
  /** Where relative paths start, except those in the config file, which start from its folder. */
  readonly cwd?: string;
}

/**
 * The settings of this process: defaults < config file < environment < code < flags. Every value given is
 * checked once, also one that a stronger source overrides. Only REDIS_URL, which may be meant for another
 * program, is read when nothing else sets the store. Modules to require are looked up and listed.
 * @throws ConfigurationError that names the source, what was expected and what came; with NODE_ENV=production
 * also when nothing sets the store
 */
export function settingsFrom(sources: SettingsSources = {}): Settings {
  const { env = process.env, cwd = process.cwd() } = sources;
  const configFile = sources.configFile ?? variable(env, configFileVariable);
  const layers: Findings[] = [
    configFile === undefined ? new Map() : fromFile(resolve(cwd, configFile)),
    fromEnvironment(env, cwd),
    fromCode(sources.given ?? {}, cwd),
    fromFlags(sources.flags ?? {}, cwd),
  ];
  const found = new Map(layers.flatMap((layer) => [...layer]));
  const missing = settingNames.filter((name) => !found.has(name));
  for (const [name, fallback] of fromFallbacks(env, missing, cwd)) found.set(name, fallback);
  return freeze(found, { env, cwd });
}

function freeze(found: ReadonlyMap<SettingName, Found>, surroundings: Surroundings): Settings {
  const pairs = settingNames.map((name) => {
    const winner = found.get(name);
    return [name, winner === undefined ? settingsTable[name].initial(surroundings) : settled(name, winner)];
  });
  return Object.freeze(Object.fromEntries(pairs)) as Settings;
}

/** What must be looked up on disk is looked up for the value that counts only. */
function settled(name: SettingName, { value, origin }: Found): unknown {
  if (name === "require") return expandRequire(value as readonly string[], origin);
  if (name === "tlsCa") return readableOrPem(value as string, origin);
  return value;
}

function readableOrPem(value: string, origin: string): string {
  if (value.includes("-----BEGIN ")) return value;
  try {
    accessSync(value, constants.R_OK);
    return value;
  } catch (error) {
    const problem = (error as NodeJS.ErrnoException).code ?? String(error);
    throw new ConfigurationError(
      `${origin}: expected PEM text or a readable PEM file, got ${value} (${problem})`,
      {
        cause: error,
      },
    );
  }
}
