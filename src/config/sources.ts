import { dirname } from "node:path";
import { ConfigurationError } from "../foundation/errors.ts";
import { readConfigFile } from "./config-file.ts";
import { didYouMean, nearest } from "./did-you-mean.ts";
import { type Environment, variable } from "./environment.ts";
import type { Place, Rule } from "./reading.ts";
import {
  fileKey,
  longFlag,
  type SettingName,
  type SettingRow,
  settingsTable,
  variableName,
  variablePrefix,
} from "./table.ts";

/** A value that was read from one source and passed its rule. */
export interface Found {
  readonly value: unknown;
  readonly origin: string;
}

/** What one source says. */
export type Findings = ReadonlyMap<SettingName, Found>;

/** The variable that names the config file where no flag does. */
export const configFileVariable = `${variablePrefix}CONFIG`;

/** What commander collected of the command line. */
export type Flags = Readonly<Record<string, unknown>>;

/** One way to write a setting: by its name or its alias. */
interface Entry {
  readonly setting: SettingName;
  readonly name: string;
  readonly flag: string | undefined;
  readonly rule: Rule<unknown>;
}

const entries: readonly Entry[] = Object.entries(settingsTable).flatMap(([setting, row]) =>
  entriesOf(setting as SettingName, row as SettingRow<unknown>),
);

function entriesOf(setting: SettingName, { rule, flag, alias }: SettingRow<unknown>): Entry[] {
  const own = { setting, name: setting, flag, rule };
  return alias === undefined ? [own] : [own, { setting, ...alias }];
}

/** @throws ConfigurationError for an unknown key, a bad value, or a file that cannot be used */
export function fromFile(path: string): Findings {
  return collect(Object.entries(readConfigFile(path)), {
    known: new Map(entries.map((entry) => [fileKey(entry.name), entry])),
    stranger: (key) => `config file ${path}: unknown key "${key}"`,
    place: (key) => ({ origin: `config file ${path}, key ${key}`, folder: dirname(path) }),
    isText: false,
  });
}

/** @throws ConfigurationError for an unknown name or a bad value; undefined counts as not given */
export function fromCode(given: object, folder: string): Findings {
  const present = Object.entries(given).filter(([, value]) => value !== undefined);
  return collect(present, {
    known: new Map(entries.map((entry) => [entry.name, entry])),
    stranger: (name) => `unknown setting "${name}"`,
    place: (name) => ({ origin: `setting ${name}`, folder }),
    isText: false,
  });
}

/**
 * `flags` is what commander collected: `--log-level` under `logLevel`, a repeatable flag as a list.
 * @throws ConfigurationError for a bad value
 */
export function fromFlags(flags: Flags, folder: string): Findings {
  const withFlag = entries.flatMap((entry) =>
    entry.flag === undefined ? [] : [[longFlag(entry.flag), entry] as const],
  );
  return collect(
    Object.entries(flags).map(([name, value]) => [`--${kebab(name)}`, value] as const),
    {
      known: new Map(withFlag),
      stranger: (flag) => `unknown flag ${flag}`,
      place: (flag) => ({ origin: `flag ${flag}`, folder }),
      isText: true,
    },
  );
}

/**
 * A variable that looks like a misspelt one of ours is refused; any other is let be, since the other
 * members of the family share the beginning of the name.
 * @throws ConfigurationError for such a variable or a bad value
 */
export function fromEnvironment(env: Environment, folder: string): Findings {
  const known = new Map(entries.map((entry) => [variableName(entry.name), entry]));
  const valid = [...known.keys(), configFileVariable].map((name) => name.slice(variablePrefix.length));
  const present: [string, string][] = [];
  for (const name of Object.keys(env)) {
    const text = name.startsWith(variablePrefix) ? variable(env, name) : undefined;
    if (text === undefined || name === configFileVariable) continue;
    const near = known.has(name) ? undefined : nearest(name.slice(variablePrefix.length), valid);
    if (near !== undefined) {
      throw new ConfigurationError(
        `environment: unknown variable ${name} (did you mean ${variablePrefix}${near}?)`,
      );
    }
    if (known.has(name)) present.push([name, text]);
  }
  return collect(present, {
    known,
    stranger: (name) => `environment: unknown variable ${name}`,
    place: (name) => ({ origin: `environment ${name}`, folder }),
    isText: true,
  });
}

/** The variables of other programs, for settings that nothing else sets. */
export function fromFallbacks(env: Environment, names: readonly SettingName[], folder: string): Findings {
  const findings = new Map<SettingName, Found>();
  for (const name of names) {
    const { rule, fallbackVariable } = settingsTable[name] as SettingRow<unknown>;
    const text = fallbackVariable === undefined ? undefined : variable(env, fallbackVariable);
    if (text === undefined) continue;
    const place = { origin: `environment ${fallbackVariable}`, folder };
    findings.set(name, read(rule, text, { place, isText: true }));
  }
  return findings;
}

interface SourceKind {
  /** The ways to write settings in this source. */
  readonly known: ReadonlyMap<string, Entry>;
  readonly stranger: (key: string) => string;
  readonly place: (key: string) => Place;
  /** Whether a text has to be taken apart to become a number, a boolean or a list. */
  readonly isText: boolean;
}

function collect(values: readonly (readonly [string, unknown])[], source: SourceKind): Findings {
  const findings = new Map<SettingName, Found>();
  for (const [key, value] of values) {
    const entry = source.known.get(key);
    if (entry === undefined) {
      throw new ConfigurationError(`${source.stranger(key)}${didYouMean(key, source.known.keys())}`);
    }
    const found = read(entry.rule, value, { place: source.place(key), isText: source.isText });
    const earlier = findings.get(entry.setting);
    if (earlier !== undefined && earlier.value !== found.value) {
      throw new ConfigurationError(
        `${earlier.origin} and ${found.origin} set the same thing to different values: give one of them`,
      );
    }
    findings.set(entry.setting, found);
  }
  return findings;
}

function read(
  rule: Rule<unknown>,
  value: unknown,
  { place, isText }: { place: Place; isText: boolean },
): Found {
  const reading = isText && typeof value === "string" ? rule.fromText(value, place) : rule.read(value, place);
  if (reading.isValid) return { value: reading.value, origin: place.origin };
  throw new ConfigurationError(`${place.origin}: ${reading.problem}`);
}

function kebab(name: string): string {
  return fileKey(name).replaceAll("_", "-");
}
