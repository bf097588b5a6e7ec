import { availableParallelism } from "node:os";
import { defaultStoreUrl, type Surroundings } from "./default-store.ts";
import type { Rule } from "./reading.ts";
import {
  booleanRule,
  channelsRule,
  choiceRule,
  integerRule,
  listRule,
  numberRule,
  pathRule,
  pemRule,
  textRule,
} from "./rules.ts";
import type { Settings } from "./settings.ts";
import { redisUrlRule, storeUrlRule } from "./store-url.ts";

export type SettingName = keyof Settings;

/** All there is to know about one setting. Its key in files and its variable follow from its name. */
export interface SettingRow<T> {
  readonly rule: Rule<T>;
  readonly initial: (surroundings: Surroundings) => T;
  /** The default as help and docs show it. */
  readonly initialText: string;
  /** One line. */
  readonly doc: string;
  /** As commander takes it: `-s, --slots <number>`. */
  readonly flag?: string;
  /** A second name with a rule of its own, valid wherever the first one is. */
  readonly alias?: {
    readonly name: string;
    readonly flag: string;
    readonly rule: Rule<T>;
    readonly doc: string;
  };
  /** A variable of other programs, read when nothing else sets it. */
  readonly fallbackVariable?: string;
}

const mebibyte = 1024 * 1024;

/**
 * Every setting once. File keys, variables, flags, `--help`, the checks and the table in
 * `docs/configuration.md` are derived from here.
 */
export const settingsTable: { readonly [Name in SettingName]: SettingRow<Settings[Name]> } = {
  url: {
    rule: storeUrlRule(),
    initial: defaultStoreUrl,
    initialText: "the embedded engine's file",
    doc: "The store's URL",
    flag: "--url <url>",
    alias: {
      name: "redisUrl",
      flag: "--redis-url <url>",
      rule: redisUrlRule(),
      doc: "The store's URL, Redis only",
    },
    fallbackVariable: "REDIS_URL",
  },
  prefix: {
    rule: textRule({ what: "text", maxBytes: 128 }),
    initial: () => "solid_jobs:",
    initialText: "solid_jobs:",
    doc: "What all keys of the store begin with, separator included",
  },
  require: {
    rule: listRule(pathRule("the path of a file, a directory or a glob"), "files, directories and globs"),
    initial: () => Object.freeze([]),
    initialText: "none",
    doc: "Modules with tasks: files, directories, globs",
    flag: "-r, --require <paths...>",
  },
  concurrency: {
    rule: integerRule({ min: 1, max: 256 }),
    initial: () => Math.min(availableParallelism(), 256),
    initialText: "available cores",
    doc: "Workers (threads) of a node",
    flag: "-c, --concurrency <number>",
  },
  slots: {
    rule: integerRule({ min: 1, max: 1000 }),
    initial: () => 1,
    initialText: "1",
    doc: "Jobs at a time in each worker",
    flag: "-s, --slots <number>",
  },
  lookAhead: {
    rule: integerRule({ min: 0, max: 512 }),
    initial: () => 128,
    initialText: "128",
    doc: "Jobs a worker may reserve ahead while it runs short ones; 0: none",
  },
  channels: {
    rule: channelsRule(),
    initial: () => Object.freeze([]),
    initialText: "default and every channel the tasks name",
    doc: "A channel to serve; the flag may be repeated",
    flag: "--channel <name[,weight]>",
  },
  channelOrder: {
    rule: choiceRule(["weighted", "priority", "shuffle"]),
    initial: () => "weighted",
    initialText: "weighted",
    doc: "In which order channels are asked for jobs",
  },
  timeout: {
    rule: numberRule({ min: 0, max: 3600, unit: "seconds" }),
    initial: () => 25,
    initialText: "25",
    doc: "Seconds that running jobs get at shutdown",
    flag: "-t, --timeout <seconds>",
  },
  logLevel: {
    rule: choiceRule(["debug", "info", "warn", "error", "silent"]),
    initial: () => "info",
    initialText: "info",
    doc: "Least level that is logged: debug, info, warn, error, silent",
    flag: "--log-level <level>",
  },
  watch: {
    rule: booleanRule(),
    initial: () => false,
    initialText: "false",
    doc: "Restart gracefully when the modules change",
    flag: "--watch",
  },
  maxFailures: {
    rule: integerRule({ min: 0, max: 10_000 }),
    initial: () => 25,
    initialText: "25",
    doc: "Failures of a job after which a further one is final",
  },
  retryBase: {
    rule: numberRule({ min: 0, max: 86_400, unit: "seconds" }),
    initial: () => 15,
    initialText: "15",
    doc: "Seconds before the first retry, at most; doubled for each further one",
  },
  retryCap: {
    rule: numberRule({ min: 0, max: 2_592_000, unit: "seconds" }),
    initial: () => 3600,
    initialText: "3600",
    doc: "Seconds before any retry, at most",
  },
  discardedLimit: {
    rule: integerRule({ min: 0, max: 10_000_000 }),
    initial: () => 10_000,
    initialText: "10000",
    doc: "Jobs kept in the archive",
  },
  discardedRetention: {
    rule: numberRule({ min: 0, max: 36_500, unit: "days" }),
    initial: () => 180,
    initialText: "180",
    doc: "Days a job is kept in the archive",
  },
  delivery: {
    rule: choiceRule(["at-least-once", "at-most-once"]),
    initial: () => "at-least-once",
    initialText: "at-least-once",
    doc: "`at-most-once` settles a job as it is reserved: a crash loses it",
  },
  payloadLimit: {
    rule: integerRule({ min: 1024, max: 256 * mebibyte, unit: "bytes" }),
    initial: () => mebibyte,
    initialText: `${mebibyte}`,
    doc: "Bytes a stored job may take",
  },
  publishDeadline: {
    rule: numberRule({ min: 0.1, max: 300, unit: "seconds" }),
    initial: () => 5,
    initialText: "5",
    doc: "Seconds after which a publication without an answer is given up",
  },
  onComplexArguments: {
    rule: choiceRule(["raise", "warn"]),
    initial: () => "raise",
    initialText: "raise",
    doc: "What arguments that JSON does not carry unchanged lead to",
  },
  allowEviction: {
    rule: booleanRule(),
    initial: () => false,
    initialText: "false",
    doc: "Accept a Redis whose eviction policy may delete jobs",
  },
  synchronous: {
    rule: choiceRule(["normal", "full"]),
    initial: () => "normal",
    initialText: "normal",
    doc: "What the embedded engine survives: normal the death of any process, full also the loss of power",
  },
  ttl: {
    rule: numberRule({ min: 1, max: 3600, unit: "seconds" }),
    initial: () => 15,
    initialText: "15",
    doc: "Seconds without a heartbeat after which other nodes may recover this one",
  },
  maxCrashes: {
    rule: integerRule({ min: 2, max: 100 }),
    initial: () => 3,
    initialText: "3",
    doc: "Deaths of nodes or threads while a job runs that make it poison, the last one while it is alone on its node",
  },
  labels: {
    rule: listRule(textRule({ what: "a label", maxBytes: 255 }), "labels"),
    initial: () => Object.freeze([]),
    initialText: "none",
    doc: "Words that the catalog shows with the node",
  },
  tlsCa: {
    rule: pemRule(),
    initial: () => undefined,
    initialText: "the system's authorities",
    doc: "Certificate authority for `rediss://`: PEM text or the path of a PEM file",
  },
};

export const settingNames = Object.keys(settingsTable) as readonly SettingName[];

/** The key in config files: `log_level`. */
export function fileKey(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

export const variablePrefix = "SOLID_JOBS_";

/** The environment variable: `SOLID_JOBS_LOG_LEVEL`. */
export function variableName(name: string): string {
  return `${variablePrefix}${fileKey(name).toUpperCase()}`;
}

/** A setting's long flag: `--log-level`. */
export function longFlag(flag: string): string {
  return /--[a-z-]+/.exec(flag)?.[0] ?? flag;
}

/**
 * The table of all settings in Markdown, one line each with the head first: `docs/configuration.md` holds
 * these lines, and a test compares them.
 */
export function settingsMarkdown(): readonly string[] {
  const head = ["| key | variable | flag | default | value | what it does |", "|---|---|---|---|---|---|"];
  const rows = settingNames.map((name) => {
    const row: SettingRow<unknown> = settingsTable[name];
    const flags = [row.flag, row.alias?.flag].filter((flag) => flag !== undefined);
    const keys = [name, row.alias?.name].filter((key) => key !== undefined);
    const cells = [
      keys.map((key) => code(fileKey(key))).join(", "),
      [...keys.map(variableName), row.fallbackVariable]
        .filter((each) => each !== undefined)
        .map(code)
        .join(", "),
      flags.map(code).join(", "),
      row.initialText,
      row.rule.expected,
      row.doc,
    ];
    return `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`;
  });
  return [...head, ...rows];
}

function code(text: string): string {
  return `\`${text}\``;
}
