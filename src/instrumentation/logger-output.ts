import { type Clock, systemClock } from "../foundation/clock.ts";
import { lineWriter } from "./line-writer.ts";
import { jsonLine, type LogLine, readableLine } from "./log-line.ts";
import type { LogFields, Logger, LogLevel } from "./logger.ts";
import { plainValue } from "./plain-value.ts";

export interface LoggerOptions {
  /** Least level that is written. */
  readonly level: LogLevel;
  /** Readable lines instead of JSON; by default whether standard output is a terminal. */
  readonly isTty?: boolean;
  /** By default on a terminal, unless NO_COLOR is set. */
  readonly isColoured?: boolean;
  /** Gets whole lines, each with its line feed; by default written to standard output at once. */
  readonly write?: (line: string) => void;
  readonly clock?: Clock;
}

const ranks: Readonly<Record<LogLevel, number>> = { debug: 0, info: 1, warn: 2, error: 3, silent: 4 };

/**
 * A logger of readable lines on a terminal, of one JSON object a line
 * (`{"time","level","message",...fields}`) anywhere else. Logging never throws.
 */
export function createLogger(options: LoggerOptions): Logger {
  const { level, write = lineWriter(1), clock = systemClock } = options;
  let format: LineFormat | undefined;
  const emit = (lineLevel: LineLevel, message: string, fields: LogFields) => {
    format ??= formatFor(options);
    write(format({ timeMs: clock.nowMs(), level: lineLevel, message, fields }));
  };
  return loggerWith({}, { leastRank: ranks[level], emit });
}

/** A logger that writes nothing. */
export const silentLogger: Logger = createLogger({ level: "silent", isTty: false, write: () => {} });

export type LineLevel = Exclude<LogLevel, "silent">;

interface Output {
  readonly leastRank: number;
  readonly emit: (level: LineLevel, message: string, fields: LogFields) => void;
}

function loggerWith(bound: LogFields, output: Output): Logger {
  const at = (level: LineLevel) => {
    if (ranks[level] < output.leastRank) return () => {};
    return (message: string, fields?: LogFields) => output.emit(level, message, merged(bound, fields));
  };
  return {
    debug: at("debug"),
    info: at("info"),
    warn: at("warn"),
    error: at("error"),
    with: (fields) => loggerWith({ ...bound, ...fields }, output),
  };
}

type LineFormat = (line: LogLine) => string;

function formatFor({ isTty = isTerminal(), isColoured }: LoggerOptions): LineFormat {
  if (!isTty) return jsonLine;
  const withColours = isColoured ?? !isColourRefused();
  return (line) => readableLine(line, withColours);
}

/** Loaded when the first line is written: each of a node's threads would pay 1.4 MiB for it. */
function isTerminal(): boolean {
  const { isatty } = require("node:tty") as typeof import("node:tty");
  return isatty(1);
}

/** A getter among the fields may throw. */
function merged(bound: LogFields, fields: LogFields | undefined): LogFields {
  try {
    return { ...bound, ...fields };
  } catch {
    return { ...bound, fields: plainValue(fields) };
  }
}

/** https://no-color.org: any value that is not empty. */
function isColourRefused(): boolean {
  return (process.env.NO_COLOR ?? "") !== "" || process.env.TERM === "dumb";
}
